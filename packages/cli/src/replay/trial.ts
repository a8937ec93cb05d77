import { randomUUID } from "node:crypto";
import { analysisAnswer, analysisKey, analysisProgram, analysisSeconds } from "@nova/agents";
import type { NovaClient } from "@nova/client";
import {
  BlobMissing,
  type CodeResult,
  callKey,
  entryName,
  type Member,
  membersOf,
  type Ports,
  pinnedPlaces,
  type RecordedCall,
  type RunIo,
  type RunRequest,
  restartKeyOf,
  type Sandbox,
  type TraceEntry,
} from "@nova/engine";
import { analysisFileOf, codeFileOf, type LockedCode, secretKeys, type TaskNode, type Workflow } from "@nova/workflow";
import { askCloud, connectServer } from "../api/ask.ts";
import { type Recorded, readBlob } from "../api/recorded.ts";
import { withCloud } from "../cloud.ts";
import { Interrupt } from "../interrupt.ts";

export interface Trial {
  /** Loads the bytes of a reference in an execution's context; null if they were erased. */
  blobOf(execution: string, sha256: string): Promise<Uint8Array | null>;
  sandboxes: Ports["sandboxes"];
  template: string;
  signal: AbortSignal;
}

export interface CodeNode {
  node: TaskNode;
  version: { workflow: Workflow };
}

type TrialCode = Pick<LockedCode, "code" | "analysis">;

export interface TrialInput extends CodeNode {
  recorded: Recorded;
  locked: TrialCode;
  /**
   * Only for code that calls tools: returns the recorded call with its result. If it returns undefined, the code stops
   * at the call.
   */
  answerCall?(name: string, args: string): RecordedCall | undefined;
}

/** The outcome of a trial run. `withheld` contains the keys of secrets; the code does not get these secrets. */
export interface TrialRun {
  result: CodeResult;
  withheld: string[];
}

/**
 * Runs code of one workflow on recorded inputs, one after another, in a sandbox without network and credentials. Stores
 * nothing.
 */
export async function* tryRuns(runs: readonly TrialInput[], trial: Trial): AsyncGenerator<TrialRun> {
  const { sandboxes, template } = trial;
  const proof = `proof_${randomUUID()}`;
  const neededBy = ({ node, locked }: TrialInput) =>
    node.timeoutSeconds + (locked.analysis === undefined ? 0 : analysisSeconds) + marginSeconds;
  const create = (index: number) => {
    const needed = runs.slice(index).map(neededBy);
    const all = needed.reduce((sum, seconds) => sum + seconds, 0);
    const lifetimeSeconds = Math.max(needed[0] ?? 0, Math.min(all, maxLifetimeSeconds));
    const lib = runs[0]?.version.workflow.lib ?? {};
    return sandboxes.create({ template, execution: proof, scope: "", lifetimeSeconds, lib, internet: false });
  };
  let sandbox: Sandbox | undefined;
  try {
    for (const [index, run] of runs.entries()) {
      if (sandbox && Date.parse(sandbox.endsAt) < Date.now() + neededBy(run) * 1000) {
        await sandboxes.kill(sandbox.id);
        sandbox = undefined;
      }
      sandbox ??= await create(index);
      yield await tryRun(run, { ...trial, sandbox: sandbox.id, link: `${proof}.${index}` });
    }
  } finally {
    if (sandbox) await sandboxes.kill(sandbox.id);
  }
}

/** The longest lifetime that a trial requests for a sandbox: one hour, which every plan of E2B allows. */
const maxLifetimeSeconds = 3600;
const marginSeconds = 120;

type Place = Trial & { sandbox: string; link: string };

async function tryRun(run: TrialInput, place: Place): Promise<TrialRun> {
  const { node, version, recorded } = run;
  const secrets = secretKeys(version.workflow);
  const input = membersOf(recorded.entry.input_context?.text ?? "{}");
  const withheld = input.map(({ key }) => key).filter((key) => secrets.has(key));
  const answer =
    node.executor.kind === "text" ? node.executor.into : node.type === "decision" ? decisionKey : undefined;
  const context = input.filter(({ key }) => !secrets.has(key) && key !== answer);
  return { result: await runBoth(run, place, context), withheld };
}

const decisionKey = "branch_decision";

/**
 * Runs the code. If the code needs an analysis, runs the analysis first. If the analysis fails, returns its failure.
 */
async function runBoth(run: TrialInput, place: Place, context: Member[]): Promise<CodeResult> {
  const { code, analysis } = run.locked;
  const { id, timeoutSeconds } = run.node;
  const task = { step: pinnedPlaces.code, code, fileName: codeFileOf(id), timeoutSeconds };
  if (run.answerCall) return runWithCalls(run, place, { ...task, context }, run.answerCall);
  if (analysis === undefined) return runCode(run, place, { ...task, context });
  const program = { code: analysisProgram(analysis), fileName: analysisFileOf(id), timeoutSeconds: analysisSeconds };
  const looked = await runCode(run, place, { step: pinnedPlaces.analysis, ...program, context });
  const answer = analysisAnswer(looked);
  if ("error" in answer) {
    const [{ logs, durationMs }, { error, traceback }] = [looked, answer];
    const failed = { status: "error", class: "NodeFailed" } as const;
    return { logs, durationMs, ...failed, message: `the analysis failed: ${error}`, traceback };
  }
  const found = { key: analysisKey, json: JSON.stringify(answer.result) };
  const others = context.filter(({ key }) => key !== analysisKey);
  return withoutAnalysis(await runCode(run, place, { ...task, context: [...others, found] }));
}

/** Runs code that calls tools: after each call, runs the code again from its start, as a run in NOVA does. */
async function runWithCalls(
  run: TrialInput,
  place: Place,
  task: Code,
  answerCall: NonNullable<TrialInput["answerCall"]>,
): Promise<CodeResult> {
  const calls: RecordedCall[] = [];
  for (;;) {
    const result = await runCode(run, place, { ...task, step: calls.length, calls });
    const call = result.status === "success" ? result.set.find(({ key }) => key === callKey) : undefined;
    const { name, arguments: args } = JSON.parse(call?.json ?? "{}") as { name?: string; arguments?: string };
    const answered = name !== undefined && args !== undefined ? answerCall(name, args) : undefined;
    if (!answered) return result;
    calls.push(answered);
  }
}

function withoutAnalysis(result: CodeResult): CodeResult {
  if (result.status === "error") return result;
  const isOwn = (key: string) => key !== analysisKey;
  return { ...result, set: result.set.filter(({ key }) => isOwn(key)), delete: result.delete.filter(isOwn) };
}

type Code = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "context" | "calls"> & { step: number };

async function runCode(
  { node, recorded }: TrialInput,
  { blobOf, sandboxes, signal, sandbox, link }: Place,
  { step, ...code }: Code,
): Promise<CodeResult> {
  const outcome = await sandboxes.run(
    sandbox,
    {
      execution: link,
      claim: { link, step, attempt: 1 },
      node: node.id,
      nodeType: node.type,
      ...code,
      network: { allow: [] },
      environment: environmentOf(recorded, node),
    },
    ioOf(blobOf, recorded),
    { first: true, turnWritten: Promise.resolve(true), lifetimeSeconds: code.timeoutSeconds + marginSeconds, signal },
  );
  if (outcome.kind === "finished") return outcome.result;
  throw new ProofInterrupted("the sandbox was lost before its code ended - try again");
}

/**
 * Returns the environment variables of the recorded run. They include the idempotency key and the restart key of that
 * run, because its code may have stored these keys.
 */
function environmentOf(
  { execution: { id }, entry: { scope, seq }, origin }: Recorded,
  { id: node, executor }: TaskNode,
) {
  const step = executor.kind === "code" ? 0 : pinnedPlaces.code;
  const link = entryName({ execution: id, scope, seq });
  const keys = { NOVA_IDEMPOTENCY_KEY: `${link}.${step}`, NOVA_RESTART_KEY: restartKeyOf(origin) };
  return { ...keys, NOVA_EXECUTION_ID: id, NOVA_NODE_ID: node };
}

/** Thrown if the sandbox was lost, or if the user pressed Ctrl-C. */
export class ProofInterrupted extends Error {
  override name = "ProofInterrupted";
}

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
 * Computes the values of `outputs` for a node from the entries before it: the last changes of each node as JSON text.
 * After the join of a fork, the result includes the nodes of all branches. After the join of a map, the output of the
 * map is the list of its results.
 */
export function outputsAfter(before: readonly TraceEntry[]): Map<string, string> {
  const outputs = new Map<string, string>();
  let fork: TraceEntry | undefined;
  for (const entry of before) {
    if (entry.status === "success" && entry.node_type !== "close") {
      const isJoin = entry.node_type === "join";
      if (!isJoin) outputs.set(entry.node_id, entry.changes.set.text);
      else if (fork?.node_type === "map") outputs.set(fork.node_id, entry.changes.set.text);
      else if (fork?.node_type !== "agent")
        for (const { entries } of fork?.branches ?? [])
          for (const [node, text] of outputsAfter(entries)) outputs.set(node, text);
    }
    fork = entry;
  }
  return outputs;
}

export type TrialFor = (workflow: Workflow) => Promise<Trial>;

/**
 * Calls `work` with recorded data of the server in `NOVA_URL`, or else of this machine. The code always runs in
 * sandboxes of this machine. `drives` is true if `work` starts runs.
 */
export async function withTrials<T>(
  work: (nova: NovaClient, trialFor: TrialFor) => Promise<T>,
  options?: { drives: boolean },
): Promise<T> {
  const server = await connectServer();
  return withCloud((cloud) => {
    const run = (nova: NovaClient) => {
      const interrupt = new AbortController();
      new Interrupt().requested().then(() => interrupt.abort());
      return work(nova, async (workflow) => ({
        blobOf: (execution, sha256) => readBlob(nova, execution, sha256),
        sandboxes: cloud.ports.sandboxes,
        template: await cloud.templateFor(workflow),
        signal: interrupt.signal,
      }));
    };
    return server ? run(server) : askCloud(cloud, run);
  }, options);
}
