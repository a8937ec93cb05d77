import { type CodeResult, type Difference, differences, membersOf, type TraceEntry } from "@nova/engine";
import type { LockedCode } from "@nova/workflow";
import type { Recorded } from "../replay/recorded.ts";
import { type Trial, tryRuns } from "../replay/trial.ts";
import type { PromptNode } from "./folder.ts";

/** The outcome compared with the recorded run. `fails` and `works` differ from it; `fails_too` does not. */
export type ProofOutcome = "same" | "differs" | "fails" | "works" | "fails_too";

/** A run of the code on one recorded input. */
export interface ProofRun {
  recorded: Recorded;
  outcome: ProofOutcome;
  differences: Difference[];
  error: string | null;
  /** Keys of secrets, which a proof does not get. */
  withheld: string[];
}

/** The proof of a node, or the reason why there is none. */
export type NodeProof = { node: string } & (
  | {
      codeHash: string;
      /** The cost of the models that wrote the code. */
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
