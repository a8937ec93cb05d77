import { createHash } from "node:crypto";
import { keyAt, type Loose, sha256, usedKeys } from "./make-proof.ts";
import type { Choices } from "./random.ts";

const join = (left: Buffer, right: Buffer) =>
  createHash("sha256").update(Buffer.of(1)).update(left).update(right).digest();

/** Returns the hash of the tree of RFC 6962, section 2.1. */
function treeHash(leaves: Buffer[]): Buffer {
  if (leaves.length === 1)
    return createHash("sha256")
      .update(Buffer.of(0))
      .update(leaves[0] as Buffer)
      .digest();
  const half = splitOf(leaves.length);
  return join(treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}

/** Returns the audit path of RFC 6962, section 2.1.1. */
function auditPath(index: number, leaves: Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const half = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
  return index < half
    ? [...auditPath(index, left), treeHash(right)]
    : [...auditPath(index - half, right), treeHash(left)];
}

function splitOf(size: number): number {
  return 2 ** Math.ceil(Math.log2(size) - 1);
}

/** Adds a root of up to 70 runs, one of which is the run of the proof. */
export function addRoot(
  proof: Loose,
  choices: Choices,
  size = choices.pick([1, 2, 3, 4, 5, 7, 8, 9, choices.between(10, 70)]),
): void {
  const close = proof.runs[0].scopes[0].entries.at(-1).head;
  const index = choices.between(0, size - 1);
  const leaves = Array.from({ length: size }, () => Buffer.from(choices.hex(64), "hex"));
  leaves[index] = Buffer.from(sha256(close), "hex");
  const number = choices.pick([1, 2, choices.between(3, 9000)]);
  const ms = Date.parse(JSON.parse(close).timestamp) + choices.between(0, 3_600_000);
  const at = new Date(ms).toISOString();
  const previous = number === 1 ? null : choices.hex(64);
  const text = JSON.stringify({ format: 1, number, size, tree: treeHash(leaves).toString("hex"), at, previous });
  proof.inclusion = { index, path: auditPath(index, leaves).map((hash) => hash.toString("hex")) };
  proof.root = { text, signature: keyAt(ms / 1000)?.sign(`nova root v1\n${text}`) };
  proof.keys = { keys: usedKeys(proof.runs, proof.root.signature) };
}
