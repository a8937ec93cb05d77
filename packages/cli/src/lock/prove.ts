import type { NovaClient } from "@nova/client";
import { type CodeResult, type Difference, differences, membersOf, renderJson, type TraceEntry } from "@nova/engine";
import type { LockedCode } from "@nova/workflow";
import type { Recorded } from "../api/recorded.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { differenceLines, rawJson } from "../output/diff.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { shorten } from "../output/text.ts";
import { type Trial, type TrialFor, tryRuns, withTrials } from "../replay/trial.ts";
import { type LockFolder, type PromptNode, readLockFolder, selectPrompts } from "./folder.ts";
import { latestRuns, planLock, readSources } from "./plan.ts";

interface ProofRequest {
  path: string;
  /** The node whose code runs; undefined: every prompt node. */
  node: string | undefined;
  count: number;
  from: string | undefined;
}

/**
 * Runs the code that `nova lock` would lock. The inputs were recorded on this machine or on a server. The code always
 * runs in sandboxes of this machine.
 */
export async function proveNodes({ path, node, count, from }: ProofRequest): Promise<NodeProof[]> {
  const folder = await readLockFolder(path);
  const asked = selectPrompts(folder, node);
  if (asked.length === 0) return [];
  const mayRun = asked.filter(({ node }) => node.effects !== true);
  if (mayRun.length === 0) throw new InvalidInput(effectful(asked[0]?.node.id ?? ""));
  return withTrials((nova, trialFor) => proveAll(nova, trialFor, { ...folder, prompts: asked }, { count, from }));
}

export async function proveFolder(asked: ProofRequest): Promise<CommandOutput> {
  const proofs = await proveNodes(asked);
  const isGood = ({ outcome }: ProofRun) => outcome === "same" || outcome === "works";
  const same = proofs.every((proof) => "runs" in proof && proof.runs.every(isGood));
  return {
    json: renderJson({ same, nodes: proofs.map(resultOf) }),
    text: proofLines(proofs),
    code: same ? exitCodes.completed : exitCodes.failed,
  };
}

function effectful(node: string): string {
  return `node "${node}" has "effects": true, so running its code again would repeat them - prove it by hand`;
}

async function proveAll(
  nova: NovaClient,
  trialFor: TrialFor,
  folder: LockFolder,
  { count, from }: Pick<ProofRequest, "count" | "from">,
): Promise<NodeProof[]> {
  const planned = await planLock(folder, await readSources(nova, folder, from));
  const recorded = await recordedInputs(nova, folder, count);
  const trial = await trialFor(folder.workflow);
  const proofs: NodeProof[] = [];
  for (const prompt of folder.prompts) {
    const { id, effects } = prompt.node;
    const locked = planned.find(({ node }) => node === id)?.locked;
    const runs = recorded.get(id) ?? [];
    const refuse = (refused: string) => proofs.push({ node: id, refused });
    if (effects === true) refuse(effectful(id));
    else if (!locked) refuse(`node "${id}" has no code yet - run it with a model`);
    else if (runs.length === 0) refuse(`node "${id}" has no recorded inputs yet - run it first`);
    else {
      const { codeHash, cost } = locked;
      const proven = await proveCode(prompt, runs, { ...trial, locked });
      proofs.push({ node: id, codeHash, costUsd: cost.usd, runs: proven });
    }
  }
  return proofs;
}

/** Reads the last inputs of each node, newest first. */
async function recordedInputs(nova: NovaClient, { workflow, prompts }: LockFolder, count: number) {
  const found = new Map<string, Recorded[]>(prompts.map(({ node }) => [node.id, []]));
  for await (const run of latestRuns(nova, workflow.id, { max: 100, full: true })) {
    const runs = found.get(run.entry.node_id);
    if (runs && runs.length < count && run.entry.input_context) runs.push(run);
    if (Array.from(found.values()).every(({ length }) => length === count)) break;
  }
  return found;
}

function resultOf(proof: NodeProof) {
  if ("refused" in proof) return { node: proof.node, refused: proof.refused, runs: [] };
  const { node, codeHash, runs } = proof;
  return { node, refused: null, code_hash: codeHash, runs: runs.map(runResult) };
}

function runResult({ recorded: { execution, entry }, outcome, differences, error, withheld }: ProofRun) {
  return {
    execution_id: execution.id,
    seq: entry.seq,
    scope: entry.scope,
    outcome,
    error,
    withheld,
    differences: differences.map(({ key, recorded, now }) => ({ key, recorded: rawJson(recorded), now: rawJson(now) })),
  };
}

const outcomeTexts: Record<ProofOutcome, string> = {
  same: styled("green", "the same outputs"),
  differs: styled("red", "other outputs"),
  fails: styled("red", "fails, but succeeded in the recorded run"),
  works: styled("green", "works, but failed in the recorded run"),
  fails_too: styled("yellow", "fails, as in the recorded run"),
};

/**
 * Returns lines that compare, for each recorded run of each node, the recorded outcome with the outcome of the current
 * code. The lines contain no control characters.
 */
export function proofLines(proofs: readonly NodeProof[]): string[] {
  if (proofs.length === 0) return ["no node has a prompt, so no code can be proven"];
  return proofs.flatMap((proof) => {
    if ("refused" in proof) return [styled("yellow", proof.refused)];
    const same = proof.runs.filter(({ outcome }) => outcome === "same").length;
    return [
      `${styled("bold", proof.node)}: the same outputs for ${same} of ${proof.runs.length} recorded inputs`,
      ...proof.runs.flatMap(runLines),
    ];
  });
}

function runLines({ recorded: { execution, entry }, outcome, differences, error, withheld }: ProofRun): string[] {
  const place = `${execution.id} ${entry.seq}${entry.scope}`;
  const secrets = withheld.length > 0 ? styled("dim", ` (without ${withheld.join(", ")})`) : "";
  return [
    `  ${styled("dim", place)} ${outcomeTexts[outcome]}${secrets}`,
    ...(error === null ? [] : [`    ${shorten(error)}`]),
    ...differenceLines(differences),
  ];
}

/**
 * The result of comparing the current code with the recorded run. `fails`: only the current code fails. `works`: only
 * the recorded run failed. `fails_too`: both failed, which counts as the same outcome.
 */
export type ProofOutcome = "same" | "differs" | "fails" | "works" | "fails_too";

export interface ProofRun {
  recorded: Recorded;
  outcome: ProofOutcome;
  differences: Difference[];
  error: string | null;
  withheld: string[];
}

export type NodeProof = { node: string } & (
  | {
      codeHash: string;
      costUsd: number;
      runs: ProofRun[];
    }
  | { refused: string }
);

/** Runs code on recorded inputs of its node. */
export async function proveCode(
  prompt: PromptNode,
  recorded: readonly Recorded[],
  { locked, ...trial }: Trial & { locked: Pick<LockedCode, "code" | "analysis"> },
): Promise<ProofRun[]> {
  const attempts = recorded.map((one) => ({ ...prompt, recorded: one, locked }));
  const proven: ProofRun[] = [];
  for await (const { result, withheld } of tryRuns(attempts, trial)) {
    const one = recorded[proven.length] as Recorded;
    proven.push({ recorded: one, withheld, ...compareOutcomes(one.entry, result) });
  }
  return proven;
}

function compareOutcomes(entry: TraceEntry, result: CodeResult): Pick<ProofRun, "outcome" | "differences" | "error"> {
  const isFailed = entry.status === "failed";
  if (result.status === "error") {
    return { outcome: isFailed ? "fails_too" : "fails", differences: [], error: result.message };
  }
  if (isFailed) return { outcome: "works", differences: [], error: null };
  const before = { set: membersOf(entry.changes.set.text), delete: entry.changes.delete };
  const found = differences(before, result);
  return { outcome: found.length === 0 ? "same" : "differs", differences: found, error: null };
}
