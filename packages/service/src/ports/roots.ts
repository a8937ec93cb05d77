import type { Leaf, Stamp, StoredRoot, TreeName } from "@nova/engine";
import type { Range } from "./page.ts";

/** A closed run that no tree has yet. `closedAt` is the time of its close entry. */
export interface PendingLeaf extends Leaf {
  closedAt: string;
}

/** Stores closed runs as leaves that the next hash tree will contain. */
export interface LeafStore {
  /** Writes the leaf; a repeated call writes the same leaf again. */
  put(leaf: PendingLeaf): Promise<void>;
}

/** Writes and lists the roots of trees. Roots, leaves under them and stamps are written once and never change. */
export interface RootStore {
  /** Returns at most `limit` closed runs that wait for a tree, the oldest of each partition. */
  pending(limit: number): Promise<PendingLeaf[]>;
  removePending(leaves: readonly PendingLeaf[]): Promise<void>;
  /** Stores the leaves of a tree in order, before its root exists. */
  createTree(tree: TreeName, leaves: readonly Leaf[]): Promise<void>;
  /** Writes a root unless the store has a root with the same number. Returns whether it wrote the root. */
  create(root: StoredRoot): Promise<boolean>;
  /**
   * Returns roots, those with the highest numbers first. `after` is the number of the last root on the previous page.
   */
  list(range: Range): Promise<StoredRoot[]>;
  /** Writes the stamp of a root unless the root has a stamp. Returns whether it wrote the stamp. */
  createStamp(stamp: Stamp): Promise<boolean>;
  /** Returns stamps, sorted as `list` sorts their roots. */
  stamps(range: Range): Promise<Stamp[]>;
}

/** An authority that NOVA does not control and that dates hashes (RFC 3161). */
export interface TimeStamper {
  /**
   * Returns a TimeStampToken (DER) over a SHA-256 of 32 bytes, and the time of the token. Throws `StampFailed` if the
   * authority returns no token.
   */
  stamp(sha256: Uint8Array): Promise<{ token: Uint8Array; at: Date }>;
}

/** The progress of the check of all chains on one day. */
export interface DailyCheck {
  /** The day in UTC on which the check began: `2026-11-28`. */
  day: string;
  runs: number;
  broken: number;
  /** Ids of broken runs, at most a hundred. */
  brokenRuns: string[];
  isDone: boolean;
  /**
   * The check continues after this position in the list of runs. Absent: the check starts at the newest run, or it is
   * done.
   */
  cursor?: string;
  /** Number of writes of this record. With this number, a slice notices that another slice has written the record. */
  revision: number;
}

export interface DailyCheckStore {
  read(): Promise<DailyCheck | undefined>;
  /**
   * Writes the progress if the stored progress still has the revision of `known`. Returns whether it wrote the
   * progress.
   */
  write(check: DailyCheck, known: DailyCheck | undefined): Promise<boolean>;
}
