import type { Range } from "./page.ts";

/** A draft of a workflow with what its nodes came to, which people build step by step. */
export interface Session {
  format: 1;
  /** `ses_` and a ULID. */
  id: string;
  client: string;
  name: string;
  /** One more with every change: whoever writes says which one they have read. */
  revision: number;
  /** Id of the key that made it. */
  createdBy: string;
  /** ISO 8601. */
  createdAt: string;
  retentionDays: number;
  /** ISO 8601: from then on it is not there any more. */
  expiresAt: string;
  state: SessionState;
}

export interface SessionState {
  draft: Draft;
  /** JSON text of an object: what every run of the draft begins with. */
  context: string;
  /** The workflow that it was made from, or published as. */
  workflow?: string;
  nodes: Record<string, NodeRecord>;
  /** Executions whose outcomes are not taken over yet. */
  runs: SessionRun[];
  /** The family of its executions; absent: there is none yet. */
  family?: SessionFamily;
  /** Drafts that were published for runs, latest last. */
  published: PublishedDraft[];
  /** The last changes, oldest first: what a second editor is told. */
  changes: SessionChange[];
}

/** What people write, in the words of a workflow file; it need not be whole. */
export interface Draft {
  /** Fields of the workflow besides `nodes`, `edges`, `id` and `name`. */
  settings: Record<string, unknown>;
  /** Files that nodes name, such as `lib/money.py`. */
  files: Record<string, string>;
  nodes: DraftNode[];
  edges: DraftEdge[];
}

export type DraftNode = Record<string, unknown> & { id: string; type: string };

export interface DraftEdge {
  from: string;
  to: string;
  condition?: string | boolean | number | undefined;
}

export interface NodeRecord {
  /** One more with every change of the node, and with everything that it came to. */
  version: number;
  /** Absent: it has come to nothing yet. */
  outcome?: NodeOutcome;
}

/** What a node came to last. */
export interface NodeOutcome {
  /** No other outcome has it. */
  id: string;
  /** Of what it came: `basisOf`. It is fresh while that is the same. */
  basis: string;
  /** What a decision, or a person, chose. */
  decision?: string;
  /** It failed, and its `onError` goes on. */
  failed?: true;
  source: EntrySource | EditSource;
}

/** An entry of an execution; of a map that of its join. */
export interface EntrySource {
  execution: string;
  scope: string;
  seq: number;
  hash: string;
}

/** Somebody's hand. */
export interface EditSource {
  by: string;
  /** ISO 8601. */
  at: string;
  /** JSON text of an object: keys of the context, large values in blobs of the family. */
  set: string;
}

/** An execution that runs nodes of the draft as they were when it began. */
export interface SessionRun {
  execution: string;
  /** ISO 8601. */
  at: string;
  by: string;
  nodes: Record<string, RunBasis>;
  /** Ids of outcomes that the execution took over, by node. */
  given: Record<string, string>;
}

/** What an outcome of the run will have come of. */
export interface RunBasis {
  /** Hash of the node's definition and its surroundings. */
  definition: string;
  /** All nodes before it; of a run that an earlier release began, those right before it. */
  before: string[];
  /** Of the node when the run began: whoever has changed it since wins. */
  version: number;
}

export interface SessionFamily {
  /** The first execution, whose blobs all share. */
  root: string;
  /** The one that began last; absent: the first one has not begun. */
  last?: string;
}

export interface PublishedDraft {
  version: number;
  /** SHA-256 of the definition. */
  hash: string;
  /** SHA-256 of the state machine. */
  machine: string;
  /** How many state machines of the session had been published before this one. */
  machines: number;
}

export interface SessionChange {
  revision: number;
  /** ISO 8601. */
  at: string;
  /** Id of the key. */
  by: string;
  /** What became of what: `node "a" was changed: prompt, model`. */
  what: string;
  node?: string;
  /** Of the node, behind the change. */
  version?: number;
}

export interface SessionStore {
  /** False when the id is taken. */
  create(session: Session): Promise<boolean>;
  get(id: string): Promise<Session | undefined>;
  /** Replaces it where its revision is still `from`; false where it is not. */
  replace(session: Session, from: number): Promise<boolean>;
  /** Newest first, without what they hold. */
  list(query: Range & { client?: string | undefined }): Promise<SessionSummary[]>;
  /** Those that were over by this time (ISO 8601); eventually consistent. */
  expired(until: string): AsyncIterable<SessionSummary>;
  /** With everything that it holds. */
  remove(session: Pick<Session, "id" | "client">): Promise<void>;
}

export type SessionSummary = Omit<Session, "state">;
