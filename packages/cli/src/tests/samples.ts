import { exitCodes } from "../errors.ts";
import type { NodeProof, ProofOutcome } from "../lock/prove.ts";
import { proveNodes } from "../lock/prove-folder.ts";
import { tableLines } from "../output/table.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";

type Count = "same" | "differs" | "fails";

/** Code that works where the recorded code failed also has another outcome. */
const countedAs: Record<ProofOutcome, Count> = {
  same: "same",
  differs: "differs",
  works: "differs",
  fails: "fails",
  fails_too: "fails",
};

/** Runs the current code of prompt nodes on their last recorded inputs, and counts the outcomes. */
export async function sampleFolder(path: string, count: number): Promise<CommandOutput> {
  const proofs = await proveNodes({ path, node: undefined, count, from: undefined });
  const nodes = proofs.map(countOutcomes);
  const same = nodes.every(({ refused, samples, same }) => refused === null && same === samples);
  return {
    json: { same, nodes },
    text: [
      ...(nodes.length === 0
        ? ["no node has a prompt, so no code can be sampled"]
        : tableLines(header, nodes.map(rowOf))),
      ...nodes.flatMap(({ refused }) => (refused === null ? [] : [styled("yellow", refused)])),
    ],
    code: same ? exitCodes.completed : exitCodes.failed,
  };
}

function countOutcomes(proof: NodeProof) {
  const none = { samples: 0, same: 0, differs: 0, fails: 0 };
  if ("refused" in proof) return { node: proof.node, refused: proof.refused, code_hash: null, ...none, cost_usd: 0 };
  const { node, codeHash, costUsd, runs } = proof;
  const all = Object.groupBy(runs, ({ outcome }) => countedAs[outcome]);
  const counts = { same: all.same?.length ?? 0, differs: all.differs?.length ?? 0, fails: all.fails?.length ?? 0 };
  return { node, refused: null, code_hash: codeHash, samples: runs.length, ...counts, cost_usd: costUsd };
}

const header = ["node", "samples", "same", "differs", "fails", "cost"];

function rowOf({ node, samples, same, differs, fails, cost_usd }: ReturnType<typeof countOutcomes>): string[] {
  return [node, ...[samples, same, differs, fails].map(String), `$${cost_usd.toFixed(4)}`];
}
