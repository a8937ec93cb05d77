import { exitCodes } from "../errors.ts";
import type { NodeProof, ProofOutcome } from "../lock/prove.ts";
import { proofsOf } from "../lock/prove-folder.ts";
import { tableLines } from "../output/table.ts";
import { styled, type Told } from "../output/terminal.ts";

type Count = "same" | "differs" | "fails";

/** Code that works where the recorded one failed has come to something else, too. */
const counted: Record<ProofOutcome, Count> = {
  same: "same",
  differs: "differs",
  works: "differs",
  fails: "fails",
  fails_too: "fails",
};

/** Runs the code of prompt nodes as it is now on their last recorded inputs, and counts what it comes to. */
export async function sampleFolder(path: string, count: number): Promise<Told> {
  const proofs = await proofsOf({ path, node: undefined, count, from: undefined });
  const nodes = proofs.map(sampled);
  const same = nodes.every(({ refused, samples, same }) => refused === null && same === samples);
  return {
    json: { same, nodes },
    text: [
      ...(nodes.length === 0
        ? ["no node has a prompt: there is nothing to sample"]
        : tableLines(header, nodes.map(rowOf))),
      ...nodes.flatMap(({ refused }) => (refused === null ? [] : [styled("yellow", refused)])),
    ],
    code: same ? exitCodes.completed : exitCodes.failed,
  };
}

function sampled(proof: NodeProof) {
  const none = { samples: 0, same: 0, differs: 0, fails: 0 };
  if ("refused" in proof) return { node: proof.node, refused: proof.refused, code_hash: null, ...none, cost_usd: 0 };
  const { node, codeHash, costUsd, runs } = proof;
  const all = Object.groupBy(runs, ({ outcome }) => counted[outcome]);
  const counts = { same: all.same?.length ?? 0, differs: all.differs?.length ?? 0, fails: all.fails?.length ?? 0 };
  return { node, refused: null, code_hash: codeHash, samples: runs.length, ...counts, cost_usd: costUsd };
}

const header = ["node", "samples", "same", "differs", "fails", "cost"];

function rowOf({ node, samples, same, differs, fails, cost_usd }: ReturnType<typeof sampled>): string[] {
  return [node, ...[samples, same, differs, fails].map(String), `$${cost_usd.toFixed(4)}`];
}
