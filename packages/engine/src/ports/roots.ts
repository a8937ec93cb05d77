/** A run in a Merkle tree. `hash` is the hash of the run's close entry. */
export interface Leaf {
  execution: string;
  hash: string;
}

/** The stored form of the signed root of a tree. It never changes. docs/proof.md describes `text`. */
export interface StoredRoot {
  number: number;
  text: string;
  signature: string;
}

/** The time stamp of a root. It never changes. */
export interface Stamp {
  number: number;
  /** An RFC 3161 TimeStampToken: DER in base64. */
  token: string;
  /** The time in the token: ISO 8601, milliseconds. */
  at: string;
  /** Milliseconds between the root and the stamp. The number is large if the time-stamp authority was unreachable. */
  delayMs: number;
}

/** Reads the roots of trees, the leaves under them, and their time stamps. Reads are strongly consistent. */
export interface Roots {
  read(number: number): Promise<StoredRoot | undefined>;
  /** Returns the leaves of a tree in order. Throws `TreeDamaged` if the stored leaves are not those of the tree. */
  leaves(tree: TreeName): Promise<readonly Leaf[]>;
  stamp(number: number): Promise<Stamp | undefined>;
}

/**
 * Identifies the leaves under a root. The number alone is not enough, because two jobs that run at the same time may
 * store different leaves for one number.
 */
export interface TreeName {
  number: number;
  size: number;
  /** The root hash of the Merkle tree. */
  tree: string;
}
