import type { Clock, KeyPair, Ports } from "../ports/index.ts";
import type { Leaf, StoredRoot, TreeName } from "../ports/roots.ts";
import { sha256 } from "../sha256.ts";
import { hashTree, leafBytes, pathInTree } from "./tree.ts";

/** The facts in the text of a root. `at` is ISO 8601 with milliseconds. */
export interface RootFacts extends TreeName {
  at: string;
  /** SHA-256 of the text of the root before; null in root 1. */
  previous: string | null;
}

/** A stored root with the facts in its text. */
export type Root = StoredRoot & RootFacts;

/** Thrown if a stored root, or the list of leaves under this root, has a form in which NOVA never writes it. */
export class TreeDamaged extends Error {
  override name = "TreeDamaged";
}

/** Returns the text that is signed and stamped: docs/proof.md fixes its fields and their order. */
function rootText({ number, size, tree, at, previous }: RootFacts): string {
  return JSON.stringify({ format: 1, number, size, tree, at, previous });
}

const rootForm =
  /^\{"format":1,"number":([1-9]\d{0,9}),"size":([1-9]\d{0,9}),"tree":"([0-9a-f]{64})","at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","previous":(?:null|"([0-9a-f]{64})")\}$/;

/** Reads the facts in a stored root. Throws `TreeDamaged` if its text has another form or another number. */
export function readRoot(stored: StoredRoot): Root {
  const [, number, size, tree = "", at = "", previous = null] = rootForm.exec(stored.text) ?? [];
  const root = { ...stored, number: Number(number), size: Number(size), tree, at, previous };
  const isFirst = root.number === 1 && previous === null;
  const fits = root.number === stored.number && (isFirst || (root.number > 1 && previous !== null));
  if (fits && rootText(root) === stored.text) return root;
  throw new TreeDamaged(`root ${stored.number} is not as NOVA wrote it - the table was edited by hand`);
}

/** Builds and signs the root of a tree over `leaves`. `before` is the root with the preceding number. */
export async function signRoot(
  { keyPair, clock }: { keyPair: KeyPair; clock: Clock },
  before: Root | undefined,
  leaves: readonly Leaf[],
): Promise<Root> {
  const facts: RootFacts = {
    number: (before?.number ?? 0) + 1,
    size: leaves.length,
    tree: hashTree(leaves.map(leafBytes)).toString("hex"),
    at: new Date(clock.now()).toISOString(),
    previous: before ? sha256(before.text) : null,
  };
  const text = rootText(facts);
  return { ...facts, text, signature: await keyPair.sign(signedText(text)) };
}

/** Returns whether the signature of a root is valid and comes from a key that was in use at the time of the root. */
export function isRootSigned(keyPair: KeyPair, { text, signature, at }: Root): Promise<boolean> {
  return keyPair.verify(signedText(text), signature, at);
}

function signedText(text: string): string {
  return `nova root v1\n${text}`;
}

/**
 * The proof that a run was in a Merkle tree at a certain time. It has the leaf of the run, the signed root of the tree,
 * and the time stamp of the root. The fields are those of a proof file (docs/proof.md). Hashes are in hex; the token is
 * DER in base64.
 */
export interface Inclusion {
  inclusion: { index: number; path: string[] };
  root: { text: string; signature: string };
  /** Null as long as no authority has stamped the root. */
  stamp: { token: string } | null;
}

/**
 * Returns the leaf of a closed run in its Merkle tree, with the root and the stamp of the tree. Returns null if no tree
 * contains the run yet. Throws `TreeDamaged` if the leaf that the run's note names is the leaf of another run.
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
