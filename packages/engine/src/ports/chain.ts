import type { Sandbox } from "./sandboxes.ts";

/** A place in the chain of one execution. The main line's scope is `""`. */
export interface LinkId {
  execution: string;
  scope: string;
  seq: number;
}

/** The right to produce the entry at a link. `held -> failing -> closed`, never back. */
export interface Turn {
  node: string;
  state: "held" | "failing" | "closed";
  /** Where its code begins, and nowhere else; null where no code runs (a close, an approval, a wait between attempts). */
  sandbox: string | null;
  /** That sandbox, where other executions may use it: whoever adopts the turn knows it as well. Between attempts, the next one's. */
  warm?: Sandbox;
  /** What its scope has besides from now on, where the sandbox was among it; absent: what it had before. */
  spare?: Sandbox[];
  /** The attempt that runs; between two attempts the one that failed. */
  attempt: number;
  /** Deliveries that came to nothing before the first attempt began: no sandbox was to be had, or their Lambda died. */
  failedDeliveries?: number;
  /** When that began, or failed: ISO 8601, milliseconds. */
  since: string;
  /** Between two attempts alone: the next one does not begin before. ISO 8601. */
  due?: string;
  /** Of a prompt node that began with pinned code: the key of its generation, so that every delivery runs the same. */
  generation?: string;
  /** Of a prompt node whose turn has moved: how many of its steps counted at each move; -1 where it began anew. */
  kept?: number[];
  /** What names led to that its code may connect to on other ports than 80 and 443. */
  addresses?: Record<string, string[]>;
}

/** Contents of an entry that can be erased on request; the head holds their digests, so the chain still verifies. */
export type ContentName =
  | "context"
  | "code"
  /** Of a hit behind an analysis: that code, where its workflow has not locked it, and what it found. */
  | "analysis_code"
  | "analysis"
  | "error"
  | "logs"
  /** Of a join: the last entries of the branches that had begun, in order (`BranchTip[]`). */
  | "branches"
  /** Of link 0: the labels of the run, by name. */
  | "labels"
  /** Of a map's entry: where its items are (`ItemPages`). */
  | "items";

/** The immutable outcome at a link. `head` is JSON text (chain/head.ts), `hash` its SHA-256. */
export interface StoredEntry {
  head: string;
  hash: string;
  contents: Partial<Record<ContentName, StoredContent>>;
  /** Of a close entry: HMAC over `hash`, by the signer. */
  signature?: string;
}

export type StoredContent = { text: string } | { blob: { sha256: string; bytes: number } };

/** What is stored at one link. */
export interface Link {
  seq: number;
  turn?: Turn;
  entry?: StoredEntry;
}

/** Contents of a step that can be erased on request; its text holds their digests. */
export type StepContentName =
  | "input"
  | "output"
  | "code"
  | "tools"
  | "error"
  | "logs"
  | "prompt"
  | "answer"
  /** What code that succeeded did to the context (`CodeResult`). */
  | "result"
  /** Of pinned code that failed: what the analysis in front of it did (`CodeResult`). */
  | "analysis";

/** How far a scope reaches. */
export type ScopeTip = Pick<LinkId, "scope" | "seq">;

/** One agent run inside a node: `text` is its JSON record, empty where it was erased, `hash` the SHA-256 of that text. */
export interface StoredStep {
  step: number;
  text: string;
  hash: string;
  contents?: Partial<Record<StepContentName, StoredContent>>;
}

/** What happened to an execution after its close, noted beside its chain. Like an entry, a note never changes. */
export type ChainNote =
  /** Its contents were erased on request; `signature`: HMAC over `erasureText`, by the signer. */
  | { kind: "erased"; signature: string }
  /** An execution takes over its outcomes. */
  | { kind: "restart"; execution: string };

/**
 * The chain partitions (DynamoDB). Reads are strongly consistent. A put answers `false` when its condition failed;
 * it throws `StoreUnavailable` for throttling and server errors that outlast the client's own retries, and then the
 * write may or may not have happened.
 */
export interface ChainStore {
  /** One query: the entry at `at.seq`, the turn and the entry behind it. */
  readTail(at: LinkId): Promise<{ here?: StoredEntry; next: Link }>;
  /** The last item of exactly this scope, and the one before where that is its turn. */
  tip(execution: string, scope: string): Promise<Link[]>;
  read(at: LinkId): Promise<Link>;
  /** Writes the turn if there is none (`expected` null), or over `expected`: its state, sandbox and attempt. */
  putTurn(at: LinkId, turn: Turn, expected: Turn | null): Promise<boolean>;
  /** Writes the entry if there is none. */
  putEntry(at: LinkId, entry: StoredEntry): Promise<boolean>;
  putStep(at: LinkId, step: StoredStep): Promise<boolean>;
  steps(at: LinkId): Promise<StoredStep[]>;
  /** Writes the note if there is none of the same kind and execution. */
  putNote(execution: string, note: ChainNote): Promise<boolean>;
  notes(execution: string): Promise<ChainNote[]>;
  /** Every link of exactly this scope, in order, page by page. */
  links(execution: string, scope: string): AsyncIterable<Link>;
  /** Entries 1 to `seq` of each of these scopes, in order, as far as they are there: few reads for many short scopes. */
  entries(execution: string, tips: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link[]>>;
  /** The link at each of these places, with its turn, by scope; one place of a scope. Few reads for many scopes. */
  linksAt(execution: string, places: readonly ScopeTip[]): Promise<ReadonlyMap<string, Link>>;
}
