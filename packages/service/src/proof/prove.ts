import { atOnce, type KeyPair, type Leaf, type Ports, type Root, readRoot, signRoot } from "@nova/engine";
import type { PendingLeaf, RootStore } from "../ports/roots.ts";

/** The maximum number of leaves in one tree, so that a job keeps only a few megabytes in memory. */
const maxLeaves = 10_000;

/** The number of notes that are written at the same time. */
const maxParallelNotes = 32;

export type ProvingPorts = Pick<Ports, "chain" | "roots" | "clock"> & { keyPair: KeyPair; rootStore: RootStore };

export interface ProvingLimits {
  /** Starts no further tree after this time: milliseconds since the epoch. */
  until?: number;
  /** Maximum number of leaves in one tree. */
  leaves?: number;
}

/**
 * Puts every closed run into a Merkle tree with a signed root, and returns the new roots, the oldest first.
 *
 * A job writes a tree in this order: its leaves, its root, and a note beside the chain of each run. Last, it removes
 * the pending leaves. So if notes of a root are missing, all leaves of this root are still pending. The next job writes
 * these notes before it makes a tree. The number of a root is its key. If two jobs run at the same time, one of them
 * makes the next root, and the other starts again. So a run without a note is in no tree, or in the newest tree.
 */
export async function proveClosedRuns(
  ports: ProvingPorts,
  { until = Number.POSITIVE_INFINITY, leaves = maxLeaves }: ProvingLimits = {},
): Promise<Root[]> {
  const made: Root[] = [];
  for (let noted = 0; ; ) {
    const newest = await newestRoot(ports);
    const pending = await ports.rootStore.pending(leaves);
    if (pending.length === 0 || ports.clock.now() >= until) return made;
    if (newest && newest.number !== noted) await completeNotes(ports, newest);
    noted = newest?.number ?? 0;
    // Every root up to the newest one has all its notes now. If another job makes a root from here on, `addRoot` fails.
    const { due, done } = await withoutNoted(ports, pending);
    await ports.rootStore.removePending(done);
    if (due.length === 0) continue;
    const root = await addRoot(ports, newest, due);
    if (!root) continue;
    made.push(root);
    const places = due.map(({ execution }, index) => ({ execution, index }));
    await writeNotes(ports, root, places);
    noted = root.number;
    await ports.rootStore.removePending(due);
  }
}

/** Returns the newest root; undefined as long as no job has made one. */
export async function newestRoot({ rootStore }: Pick<ProvingPorts, "rootStore">): Promise<Root | undefined> {
  const [newest] = await rootStore.list({ limit: 1 });
  return newest && readRoot(newest);
}

/**
 * Splits pending leaves into `due` and `done`. The runs of `due` are in no tree yet, and are sorted by their ends. The
 * runs of `done` are already in a tree, or are repeated.
 */
async function withoutNoted({ chain }: Pick<ProvingPorts, "chain">, pending: readonly PendingLeaf[]) {
  const notes = await chain.rootNotes([...new Set(pending.map(({ execution }) => execution))]);
  const byEnd = pending.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1));
  const due = new Map<string, PendingLeaf>();
  for (const leaf of byEnd) if (!notes.has(leaf.execution) && !due.has(leaf.execution)) due.set(leaf.execution, leaf);
  return { due: [...due.values()], done: byEnd.filter((leaf) => due.get(leaf.execution) !== leaf) };
}

function endOf({ closedAt, execution }: PendingLeaf): string {
  return `${closedAt}#${execution}`;
}

/** Stores the root after `before`. Returns undefined if another job has stored a root with the same number. */
async function addRoot(ports: ProvingPorts, before: Root | undefined, leaves: readonly Leaf[]) {
  const root = await signRoot(ports, before, leaves);
  const { number, text, signature } = root;
  await ports.rootStore.createTree(root, leaves);
  if (await ports.rootStore.create({ number, text, signature })) return root;
  // The SDK may have repeated a put whose answer was lost.
  const stored = await ports.roots.read(number);
  return stored?.text === text ? readRoot(stored) : undefined;
}

/** Writes the missing notes of a tree. Notes are missing if the job that made the tree crashed. */
async function completeNotes(ports: ProvingPorts, root: Root): Promise<void> {
  const places = (await ports.roots.leaves(root)).map(({ execution }, index) => ({ execution, index }));
  const notes = await ports.chain.rootNotes(places.map(({ execution }) => execution));
  const missing = places.filter(({ execution }) => !notes.has(execution));
  await writeNotes(ports, root, missing);
}

async function writeNotes(
  { chain }: Pick<ProvingPorts, "chain">,
  { number }: Root,
  places: readonly { execution: string; index: number }[],
): Promise<void> {
  await atOnce(
    places,
    ({ execution, index }) => chain.putNote(execution, { kind: "root", number, index }),
    maxParallelNotes,
  );
}
