import type { Sandbox } from "./sandboxes.ts";

/** A place in the chain of one execution. The main line's scope is `""`. */
export interface EntryId {
  execution: string;
  scope: string;
  seq: number;
}

/** The right to produce the entry at a link. `held -> failing -> closed`, never back. */
export interface Turn {
  node: string;
  state: "held" | "failing" | "closed";
  /** The only sandbox in which its code may start; null if no code runs: a close, an approval, a pause. */
  sandbox: string | null;
  /**
   * The sandbox, if other executions may use it, so that a delivery that adopts the turn knows it too. Between attempts
   * it is the sandbox for the next one.
   */
  warm?: Sandbox;
  /** The spare sandboxes of the scope from now on, if the sandbox was one of them. Absent if they stay as before. */
  spare?: Sandbox[];
  attempt: number;
  /** Deliveries that failed before the first attempt started: there was no sandbox, or their Lambda died. */
  failedDeliveries?: number;
  /** Time at which the attempt started or failed: ISO 8601, milliseconds. */
  since: string;
  /** Set between two attempts: the earliest time of the next one. ISO 8601. */
  due?: string;
  /** Set for a prompt node that started with pinned code: its generation, which every delivery runs. */
  generation?: string;
  /** Set for a prompt node whose turn has moved: its valid steps at each move; -1 at the end of an attempt. */
  kept?: number[];
  /** Addresses that host names resolved to, for ports other than 80 and 443. */
  addresses?: Record<string, string[]>;
}

/** Contents of an entry that can be erased on request. The head holds their digests, so the chain still verifies. */
export type ContentName =
  | "context"
  | "code"
  /** Set for a cache hit after an analysis: its code, unless the workflow has locked it, and its result. */
  | "analysis_code"
  | "analysis"
  | "error"
  | "logs"
  /** Set for a join: the last entries of the branches that had started, in order (`BranchTip[]`). */
  | "branches"
  | "labels"
  /** Set for a map's entry: the pages of its items (`ItemPages`). */
  | "items";

/** The immutable outcome at a link. `head` is JSON text (chain/head.ts), `hash` its SHA-256. */
export interface StoredEntry {
  head: string;
  hash: string;
  contents: Partial<Record<ContentName, StoredContent>>;
  signature?: string;
}

export type StoredContent = { text: string } | { blob: { sha256: string; bytes: number } };

/** The stored items of one link. */
export interface Link {
  seq: number;
  turn?: Turn;
  entry?: StoredEntry;
}

/** Contents of a step that can be erased on request. Its text holds their digests. */
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
  /** Set for pinned code that failed: the result of the analysis before it (`CodeResult`). */
  | "analysis";

/** The last link of a scope. */
export type ScopeTip = Pick<EntryId, "scope" | "seq">;

/** One agent run inside a node. `text` is its JSON record, empty if erased; `hash` is the SHA-256 of that text. */
export interface StoredStep {
  step: number;
  text: string;
  hash: string;
  contents?: Partial<Record<StepContentName, StoredContent>>;
}

/** An event of an execution after its close, stored beside its chain. A note never changes, like an entry. */
export type ChainNote =
  /** Its contents were erased on request. `signature` is an HMAC over `erasureText`, by the signer. */
  { kind: "erased"; signature: string } | { kind: "restart"; execution: string };

/**
 * The chain partitions (DynamoDB). Reads are strongly consistent. A put returns `false` if its condition failed. It
 * throws `StoreUnavailable` for throttling and server errors that outlast the client's own retries; the write may then
 * have happened or not.
 */
export interface ChainStore {
  /** Reads with one query: the entry at `at.seq`, and the turn and entry after it. */
  readTail(at: EntryId): Promise<{ here?: StoredEntry; next: Link }>;
  /** The last item of exactly this scope, and the item before if the last one is its turn. */
  tip(execution: string, scope: string): Promise<Link[]>;
  read(at: EntryId): Promise<Link>;
  /** Writes the turn if there is none (`expected` null), or replaces `expected`: its state, sandbox and attempt. */
  putTurn(at: EntryId, turn: Turn, expected: Turn | null): Promise<boolean>;
  putEntry(at: EntryId, entry: StoredEntry): Promise<boolean>;
  putStep(at: EntryId, step: StoredStep): Promise<boolean>;
  steps(at: EntryId): Promise<StoredStep[]>;
  /** Writes the note if there is none of the same kind and execution. */
  putNote(execution: string, note: ChainNote): Promise<boolean>;
  notes(execution: string): Promise<ChainNote[]>;
  links(execution: string, scope: string): AsyncIterable<Link>;
  /** Entries 1 to `seq` of each of these scopes that exist, in order. It needs few reads for many short scopes. */
  entries(execution: string, tips: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link[]>>;
  /** The link at each of these places with its turn, by scope; at most one place per scope. It needs few reads. */
  linksAt(execution: string, places: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link>>;
}
