import { randomUUID } from "node:crypto";
import { analysisAnswer, analysisKey, analysisProgram, analysisSeconds } from "@nova/agents";
import {
  BlobMissing,
  type CodeResult,
  type Difference,
  differences,
  type Member,
  membersOf,
  type Ports,
  pinnedPlaces,
  type RunIo,
  type RunRequest,
  type TraceEntry,
} from "@nova/engine";
import { analysisFileOf, codeFileOf, type LockedCode, secretKeys } from "@nova/workflow";
import type { PromptNode } from "./folder.ts";
import type { Recorded } from "./recorded.ts";

/** `same` as recorded, `differs` from that; `fails` or `works`, other than then; `fails_too`. */
export type ProofOutcome = "same" | "differs" | "fails" | "works" | "fails_too";

/** Code over one recorded input. */
export interface ProofRun {
  recorded: Recorded;
  outcome: ProofOutcome;
  differences: Difference[];
  error: string | null;
  /** Keys of secrets, which a proof does not get. */
  withheld: string[];
}

/** A node's proof, or why there is none. */
export type NodeProof = { node: string } & ({ codeHash: string; runs: ProofRun[] } | { refused: string });

interface Trial {
  /** What a reference in a context of an execution stands for; null where it was erased. */
  blobOf(execution: string, sha256: string): Promise<Uint8Array | null>;
  sandboxes: Ports["sandboxes"];
  template: string;
  locked: Pick<LockedCode, "code" | "analysis">;
  signal: AbortSignal;
}

/** Runs code over recorded inputs of its node in a sandbox that has no network and no credentials; nothing is kept. */
export async function proveCode(prompt: PromptNode, runs: readonly Recorded[], trial: Trial): Promise<ProofRun[]> {
  const { sandboxes, template } = trial;
  const { timeoutSeconds } = prompt.node;
  const { lib } = prompt.version.workflow;
  const proof = `proof_${randomUUID()}`;
  const eachSeconds = timeoutSeconds + (trial.locked.analysis === undefined ? 0 : analysisSeconds);
  const lifetimeSeconds = runs.length * eachSeconds + marginSeconds;
  const spec = { template, execution: proof, scope: "", lifetimeSeconds, lib, internet: false };
  const sandbox = await sandboxes.create(spec);
  try {
    const proven: ProofRun[] = [];
    for (const [index, recorded] of runs.entries()) {
      proven.push(await proveRun(prompt, recorded, { ...trial, sandbox: sandbox.id, link: `${proof}.${index}` }));
    }
    return proven;
  } finally {
    await sandboxes.kill(sandbox.id);
  }
}

const marginSeconds = 120;

type Place = Trial & { sandbox: string; link: string };

async function proveRun(prompt: PromptNode, recorded: Recorded, place: Place): Promise<ProofRun> {
  const { node, version } = prompt;
  const { entry } = recorded;
  const secrets = secretKeys(version.workflow);
  const input = membersOf(entry.input_context?.text ?? "{}");
  const withheld = input.map(({ key }) => key).filter((key) => secrets.has(key));
  const context = input.filter(({ key }) => !secrets.has(key) && !(node.type === "decision" && key === decisionKey));
  return { recorded, withheld, ...compared(entry, await runBoth(prompt, recorded, place, context)) };
}

/** The code, where it needs that behind its analysis: a failure of either is the answer. */
async function runBoth(prompt: PromptNode, recorded: Recorded, place: Place, context: Member[]): Promise<CodeResult> {
  const { code, analysis } = place.locked;
  const { id, timeoutSeconds } = prompt.node;
  const task = { step: pinnedPlaces.code, code, fileName: codeFileOf(id), timeoutSeconds };
  if (analysis === undefined) return runCode(prompt, recorded, place, { ...task, context });
  const program = { code: analysisProgram(analysis), fileName: analysisFileOf(id), timeoutSeconds: analysisSeconds };
  const looked = await runCode(prompt, recorded, place, { step: pinnedPlaces.analysis, ...program, context });
  const answer = analysisAnswer(looked);
  if ("error" in answer) {
    const [{ logs, durationMs }, { error, traceback }] = [looked, answer];
    const failed = { status: "error", class: "NodeFailed" } as const;
    return { logs, durationMs, ...failed, message: `the analysis failed: ${error}`, traceback };
  }
  const found = { key: analysisKey, json: JSON.stringify(answer.result) };
  const others = context.filter(({ key }) => key !== analysisKey);
  return withoutAnalysis(await runCode(prompt, recorded, place, { ...task, context: [...others, found] }));
}

function withoutAnalysis(result: CodeResult): CodeResult {
  if (result.status === "error") return result;
  const isOwn = (key: string) => key !== analysisKey;
  return { ...result, set: result.set.filter(({ key }) => isOwn(key)), delete: result.delete.filter(isOwn) };
}

type Code = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "context"> & { step: number };

async function runCode(
  { node }: PromptNode,
  recorded: Recorded,
  { blobOf, sandboxes, signal, sandbox, link }: Place,
  { step, ...code }: Code,
): Promise<CodeResult> {
  const outcome = await sandboxes.run(
    sandbox,
    {
      ...{ execution: link, claim: { link, step, attempt: 1 }, node: node.id, nodeType: node.type, ...code },
      network: { allow: [] },
      environment: { NOVA_IDEMPOTENCY_KEY: link, NOVA_EXECUTION_ID: link, NOVA_NODE_ID: node.id },
    },
    ioOf(blobOf, recorded),
    { first: true, permit: Promise.resolve(true), lifetimeSeconds: code.timeoutSeconds + marginSeconds, signal },
  );
  if (outcome.kind === "finished") return outcome.result;
  throw new ProofInterrupted(`the sandbox of the proof was lost - try again`);
}

/** The sandbox is gone, or somebody pressed Ctrl-C. */
export class ProofInterrupted extends Error {
  override name = "ProofInterrupted";
}

const decisionKey = "branch_decision";

function compared(entry: TraceEntry, result: CodeResult): Pick<ProofRun, "outcome" | "differences" | "error"> {
  const isFailed = entry.status === "failed";
  if (result.status === "error") {
    return { outcome: isFailed ? "fails_too" : "fails", differences: [], error: result.message };
  }
  if (isFailed) return { outcome: "works", differences: [], error: null };
  const before = { set: membersOf(entry.changes.set.text), delete: entry.changes.delete };
  const found = differences(before, result);
  return { outcome: found.length === 0 ? "same" : "differs", differences: found, error: null };
}

/** Reads what the recorded run could read, and writes nothing. */
function ioOf(blobOf: Trial["blobOf"], { execution, before }: Recorded): RunIo {
  const outputs = outputsAfter(before);
  return {
    async openBlob({ sha256 }) {
      const bytes = await blobOf(execution.id, sha256);
      if (bytes === null) throw new BlobMissing(`blob ${sha256} of ${execution.id} was erased`);
      return ReadableStream.from([bytes]);
    },
    async storeBlob(_, body) {
      for await (const chunk of body) void chunk;
    },
    outputs: async (node) => outputs.get(node) ?? null,
    outputNames: async () => Array.from(outputs.keys()),
    taskUrl: async () => null,
  };
}

/**
 * What `outputs[node]` was for a node, from what ran before it: JSON text of what each set last. Of parallel branches
 * that were joined by then each node counts, of a map its list of results.
 */
export function outputsAfter(before: readonly TraceEntry[]): Map<string, string> {
  const outputs = new Map<string, string>();
  let fork: TraceEntry | undefined;
  for (const entry of before) {
    if (entry.status === "success" && entry.node_type !== "close") {
      const isJoin = entry.node_type === "join";
      if (!isJoin) outputs.set(entry.node_id, entry.changes.set.text);
      else if (fork?.node_type === "map") outputs.set(fork.node_id, entry.changes.set.text);
      else
        for (const { entries } of fork?.branches ?? [])
          for (const [node, text] of outputsAfter(entries)) outputs.set(node, text);
    }
    fork = entry;
  }
  return outputs;
}
