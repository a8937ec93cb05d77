/** A run in a Merkle tree. `hash` is the hash of its close entry. */
export interface Leaf {
  execution: string;
  hash: string;
}

/** The signed root of a tree, as it is stored: it never changes. docs/proof.md describes `text`. */
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
  /** Milliseconds between the root and the stamp, which are many if the authority was unreachable. */
  delayMs: number;
}

/** Reads the roots of trees, the leaves under them, and their time stamps. Reads are strongly consistent. */
export interface Roots {
  read(number: number): Promise<StoredRoot | undefined>;
  /** Returns the leaves of a tree in order. Throws `TreeDamaged` if they are not those of the tree. */
  leaves(tree: TreeName): Promise<readonly Leaf[]>;
  stamp(number: number): Promise<Stamp | undefined>;
}

/**
 * Identifies the leaves under a root, because two jobs that run at the same time may store different leaves for one
 * number.
 */
export interface TreeName {
  number: number;
  size: number;
  /** Hash of the tree. */
  tree: string;
}
