import type { Sandbox } from "./sandboxes.ts";

/** Identifies an entry in the chain of one execution. The main line's scope is `""`. */
export interface EntryId {
  execution: string;
  scope: string;
  seq: number;
}

/** Times of a node in milliseconds, as its turn has measured them. */
export interface RecordedTimes {
  /**
   * The sum of two times: from the preceding entry until a slot was free, and between each failed attempt and the next
   * attempt.
   */
  waiting_ms: number;
  /** The time in which deliveries chose, created or extended the sandbox. */
  sandbox_ms: number;
}

/** The right to produce one entry. Its state goes `held -> failing -> closed`, never back. */
export interface Turn {
  node: string;
  state: "held" | "failing" | "closed";
  /**
   * The only sandbox in which the code of this turn may start; null if the turn runs no code, as for a close, an
   * approval or a pause.
   */
  sandbox: string | null;
  /**
   * The record of the sandbox, which a delivery needs to continue this turn. Set only if other executions may use the
   * sandbox. Between two attempts, this field holds the sandbox of the next attempt.
   */
  warm?: Sandbox;
  /** The spare sandboxes of the scope that remain after this turn has taken one of them. Absent if it took none. */
  spare?: Sandbox[];
  /** True after a long wait for an attempt, during which the scope had no sandbox. */
  released?: true;
  attempt: number;
  /**
   * The number of deliveries that failed before the first attempt started: they found no sandbox, or their Lambda died.
   */
  failedDeliveries?: number;
  /** The times of this attempt and of the attempts before it. Absent if the turn runs no code and asks no model. */
  times?: RecordedTimes;
  /** Time at which the attempt started or failed: ISO 8601, milliseconds. */
  since: string;
  /** Set between two attempts: the earliest time of the next attempt. ISO 8601. */
  due?: string;
  /** Set for a prompt node that started with pinned code: the id of that code. Every delivery runs the same code. */
  generation?: string;
  /**
   * Set for a prompt node that changed its sandbox or has ended an attempt. The list has one number for each of these
   * events, in order. For a change of the sandbox, this is the number of steps that were recorded before the change.
   * For the end of an attempt, it is -1.
   */
  kept?: number[];
  /** The addresses of each host that the code may reach on ports other than 80 and 443, by host name. */
  addresses?: Record<string, string[]>;
}

/**
 * Contents of an entry that can be erased on request. The hashed part of the entry (the head) holds their digests, so
 * the chain can still be verified.
 */
export type ContentName =
  | "context"
  | "code"
  /**
   * Two contents of a cache hit with an analysis: the code of the analysis, unless the workflow has locked this code,
   * and the result of the analysis.
   */
  | "analysis_code"
  | "analysis"
  | "error"
  | "logs"
  /**
   * Set for a join: the last entry of each branch that had started, in the order of the branches (`BranchTip[]`). Set
   * for an approval on which people have voted: a list with only the last entry of the approval's inner scope.
   */
  | "branches"
  /** Set for an entry of the inner scope of an approval: a vote, its withdrawal, a delegation, or the end (`Ballot`). */
  | "vote"
  | "labels"
  /** Set for an entry 0 whose run was started by a person with a proved identity: that person (`NamedPerson`). */
  | "starter"
  /** Set for a map's entry, and for an agent's entry with calls: the pages of its items (`ItemPages`). */
  | "items"
  /** Set for an agent's entry with calls: the part of the talk with its model that this visit added (`TalkPart`). */
  | "talk"
  /** Set for the join of an agent's calls: a list with the result of each call. */
  | "results";

/** The immutable record of one outcome. `head` is the JSON text of a `Head` (chain/entry.ts), `hash` its SHA-256. */
export interface StoredEntry {
  head: string;
  hash: string;
  contents: Partial<Record<ContentName, StoredContent>>;
  signature?: string;
}

export type StoredContent = { text: string } | { blob: { sha256: string; bytes: number } };

/** The items that the table can hold under one entry number: the turn, the entry, or both. */
export interface Link {
  seq: number;
  turn?: Turn;
  entry?: StoredEntry;
}

/** Contents of a step that can be erased on request. The text of the step holds their digests. */
export type StepContentName =
  | "input"
  | "output"
  | "code"
  | "tools"
  | "error"
  | "logs"
  | "prompt"
  | "answer"
  | "result"
  /** Set if pinned code failed after its analysis: the result of that analysis (`CodeResult`). */
  | "analysis";

/** The number of the last entry of a scope. */
export type ScopeTip = Pick<EntryId, "scope" | "seq">;

/**
 * One step of a node, such as a call of a model or a test of its code. `text` is its JSON record, empty if erased;
 * `hash` is the SHA-256 of that text.
 */
export interface StoredStep {
  step: number;
  text: string;
  hash: string;
  contents?: Partial<Record<StepContentName, StoredContent>>;
}

/**
 * A record about an execution that NOVA writes beside the chain after the close. Like an entry, a note never changes.
 */
export type ChainNote =
  /**
   * `erased`: the contents of the execution were erased on request. `signature` is the signature of the key pair over
   * `erasureText`. `restart`: `execution` restarts this execution. `root`: the execution is the leaf `index` of the
   * Merkle tree under root `number`.
   */
  { kind: "erased"; signature: string } | { kind: "restart"; execution: string } | RootNote;

export interface RootNote {
  kind: "root";
  number: number;
  index: number;
}

/**
 * The store of chains (DynamoDB). Reads are strongly consistent. A put returns `false` if its condition failed. It
 * throws `StoreUnavailable` if throttling or server errors outlast the retries of the AWS client; the write may then
 * have happened or not.
 */
export interface ChainStore {
  /** Reads with one query: the entry at `at.seq` as `here`, and the turn and entry with the next number as `next`. */
  readTail(at: EntryId): Promise<{ here?: StoredEntry; next: Link }>;
  /**
   * Returns the last two items of this scope; scopes inside this scope do not count. One of the items is the last entry
   * of the scope.
   */
  tip(execution: string, scope: string): Promise<Link[]>;
  read(at: EntryId): Promise<Link>;
  /**
   * Writes the turn if the stored turn has the state, sandbox and attempt of `expected`. If `expected` is null, writes
   * the turn only if none is stored.
   */
  putTurn(at: EntryId, turn: Turn, expected: Turn | null): Promise<boolean>;
  putEntry(at: EntryId, entry: StoredEntry): Promise<boolean>;
  putStep(at: EntryId, step: StoredStep): Promise<boolean>;
  steps(at: EntryId): Promise<StoredStep[]>;
  /** Writes the note if there is none of the same kind and, for a restart, the same execution. */
  putNote(execution: string, note: ChainNote): Promise<boolean>;
  notes(execution: string): Promise<ChainNote[]>;
  /** Returns the root notes by execution. Executions without a root note are left out. This method needs few reads. */
  rootNotes(executions: readonly string[]): Promise<ReadonlyMap<string, RootNote>>;
  /** Yields the turns and entries of a scope in order, from the number `from` on (0 if absent). */
  links(execution: string, scope: string, from?: number): AsyncIterable<Link>;
  /**
   * Returns the entries 1 to `seq` of each scope in `tips`, in order. Leaves out scopes that do not exist. Many short
   * scopes need only few reads.
   */
  entries(execution: string, tips: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link[]>>;
  /**
   * Returns by scope the entry at each of `places`, or the turn if there is no entry. `places` has at most one place
   * per scope. This method needs few reads.
   */
  linksAt(execution: string, places: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link>>;
}
