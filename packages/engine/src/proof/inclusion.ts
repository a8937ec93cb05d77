import type { Ports } from "../ports/index.ts";
import { readRoot, TreeDamaged } from "./root.ts";
import { leafBytes, pathInTree } from "./tree.ts";

/**
 * The data that proves at what time a run was in a Merkle tree: the leaf of the run, the signed root of the tree, and
 * the time stamp of the root. The fields are those of a proof file (docs/proof.md). Hashes are in hex; the token is DER
 * in base64.
 */
export interface Inclusion {
  inclusion: { index: number; path: string[] };
  root: { text: string; signature: string };
  /** Null as long as no authority has stamped the root. */
  stamp: { token: string } | null;
}

/**
 * Returns the leaf of a closed run in its Merkle tree, with the root and the stamp of the tree. Null if no tree has the
 * run yet. Throws `TreeDamaged` if the leaf that the run's note names is the leaf of another run.
 */
export async function readInclusion(
  { chain, roots }: Pick<Ports, "chain" | "roots">,
  execution: string,
): Promise<Inclusion | null> {
  const note = (await chain.notes(execution)).find((one) => one.kind === "root");
  if (note?.kind !== "root") return null;
  const { number, index } = note;
  const [stored, stamp] = await Promise.all([roots.read(number), roots.stamp(number)]);
  if (!stored) throw new TreeDamaged(`root ${number}, in whose tree ${execution} is, does not exist`);
  const { text, signature, ...facts } = readRoot(stored);
  const leaves = await roots.leaves(facts);
  if (leaves[index]?.execution !== execution)
    throw new TreeDamaged(`leaf ${index} of tree ${number} is not ${execution}, whose note names it`);
  const path = pathInTree(leaves.map(leafBytes), index).map((hash) => hash.toString("hex"));
  return { inclusion: { index, path }, root: { text, signature }, stamp: stamp ? { token: stamp.token } : null };
}
