import { hash } from "node:crypto";
import type { Leaf } from "../ports/roots.ts";

/** Returns the root hash of the Merkle tree over these leaves (RFC 6962, section 2.1). */
export function hashTree(leaves: readonly Uint8Array[]): Buffer {
  return levelsOf(leaves).at(-1)?.[0] ?? sha256Bytes(Buffer.alloc(0));
}

/**
 * Returns the audit path of a leaf (RFC 6962, section 2.1.1): the hashes of the siblings from the leaf to the top.
 * Throws a `RangeError` if there is no such leaf.
 */
export function pathInTree(leaves: readonly Uint8Array[], index: number): Buffer[] {
  if (!(index in leaves)) throw new RangeError(`a tree of ${leaves.length} leaves has no leaf ${index}`);
  return levelsOf(leaves).flatMap((level, height) => level[Math.floor(index / 2 ** height) ^ 1] ?? []);
}

/** Returns the bytes of a leaf: the hash of the run's close entry. */
export function leafBytes({ hash }: Pick<Leaf, "hash">): Uint8Array {
  return Buffer.from(hash, "hex");
}

/**
 * Returns the hashes of every level, from the leaves to the top. A tree node without a sibling moves up unchanged. This
 * leads to the same tree as the recursive definition in the RFC.
 */
function levelsOf(leaves: readonly Uint8Array[]): Buffer[][] {
  let level = leaves.map((leaf) => sha256Bytes(Buffer.concat([leafMark, leaf])));
  const levels = [level];
  while (level.length > 1) {
    const below = level;
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, at) => joinPair(below, 2 * at));
    levels.push(level);
  }
  return levels;
}

const [leafMark, pairMark] = [Buffer.of(0), Buffer.of(1)];

function joinPair(level: readonly Buffer[], at: number): Buffer {
  const [left, right] = level.slice(at, at + 2) as [Buffer, Buffer?];
  return right ? sha256Bytes(Buffer.concat([pairMark, left, right])) : left;
}

function sha256Bytes(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer");
}
