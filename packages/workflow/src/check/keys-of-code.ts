export interface NearKey {
  /** Absent: no key is near. */
  near?: string;
  /** The key is a slip of the pen for the near one, and makes no other word. */
  isSlip: boolean;
}

/** A key that code cannot do without and nobody has set. Places from 1; columns count UTF-16 units. */
export interface MissingKey extends NearKey {
  key: string;
  line: number;
  column: number;
}

export interface NamedId {
  id: string;
  line: number;
  column: number;
}

/** What a reader of Python says of a node's code. */
export interface CodeKeys {
  sets: ReadonlySet<string>;
  setsMore: boolean;
  reads: ReadonlySet<string>;
  /** Ids of the waits whose links it reads in `tasks`. */
  waits: readonly NamedId[];
  /** Ids of the nodes whose results it reads in `outputs`. */
  results: readonly NamedId[];
  missing(known: readonly string[]): MissingKey[];
}

/** @nova/python, for a check that has to know what code does; this package reads no Python. */
export interface KeyReader {
  /** Null where nothing can be said of the code. */
  codeKeys(code: string): CodeKeys | null;
  nearKey(wrong: string, keys: readonly string[]): NearKey;
}
