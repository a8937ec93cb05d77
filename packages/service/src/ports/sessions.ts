import type { Range } from "./page.ts";

/** A draft of a workflow that a user builds step by step, with the outcomes of its nodes. */
export interface Session {
  format: 1;
  id: string;
  client: string;
  name: string;
  /**
   * Grows by one with every change. A writer names the revision that it has read, and the store rejects the write if
   * the session has another revision.
   */
  revision: number;
  createdBy: string;
  createdAt: string;
  retentionDays: number;
  /** The time from which on the session is not found any more, in ISO 8601. */
  expiresAt: string;
  state: SessionState;
}

export interface SessionState {
  draft: Draft;
  /** JSON text of an object: the initial context of every run. */
  context: string;
  /** The workflow from which the session was made, or as which it was published. */
  workflow?: string;
  nodes: Record<string, NodeRecord>;
  /** The entry of a run from which the session was made; absent: the session was made from no run. */
  recorded?: RecordedEntry;
  /** Positions of nodes that a person has moved in the drawing of the draft. */
  layout?: Record<string, { x: number; y: number }>;
  /** Executions whose outcomes are not in `nodes` yet. */
  runs: SessionRun[];
  /** The data that all executions of the session share; absent before the first execution. */
  family?: SessionFamily;
  /** Drafts that were published for runs, latest last. */
  published: PublishedDraft[];
  changes: SessionChange[];
}

/** An editable workflow, with the fields of a workflow file. It may be incomplete. */
export interface Draft {
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
  /** How often a loop may take the edge. The rest of the draft has no cycle. */
  max?: number | undefined;
}

export interface NodeRecord {
  /** Grows by one with every change of the node, and with every outcome. */
  version: number;
  outcome?: NodeOutcome;
}

export interface NodeOutcome {
  id: string;
  /** Hash of the inputs of the outcome, from `basisOf`. The outcome is fresh while its inputs have this hash. */
  basis: string;
  decision?: string;
  failed?: true;
  source: EntrySource | EditSource;
}

/** The entry of an execution that holds the outcome; for a map, the entry of its join. */
export interface EntrySource {
  execution: string;
  scope: string;
  seq: number;
  hash: string;
}

/** The entry of the node that a session repeats with the same context. */
export interface RecordedEntry extends Omit<EntrySource, "hash"> {
  node: string;
  /** The version of the workflow that the execution ran. */
  version: number;
  /**
   * Hash of the initial context of the session. If the context changes, the node no longer starts with the recorded
   * input.
   */
  context: string;
}

export interface EditSource {
  by: string;
  at: string;
  /**
   * The keys and values that the user wrote, as the JSON text of an object. Large values are in blobs, which all
   * executions of the session share.
   */
  set: string;
}

/** An execution that runs nodes of the draft as they were when it started. */
export interface SessionRun {
  execution: string;
  at: string;
  by: string;
  nodes: Record<string, RunBasis>;
  /** Ids of the outcomes that the execution reuses, by node. */
  given: Record<string, string>;
}

export interface RunBasis {
  /** Hash of the node's definition, and of the settings, files and initial context of the draft. */
  definition: string;
  before: string[];
  /** Version of the node when the run started. An outcome for an older version is dropped. */
  version: number;
}

export interface SessionFamily {
  /** The first execution of the session. All later executions share its blobs. */
  root: string;
  last?: string;
}

export interface PublishedDraft {
  version: number;
  hash: string;
  machine: string;
  /** Number of the draft's state machine in this session. A session numbers its state machines from 1. */
  machines: number;
}

export interface SessionChange {
  revision: number;
  at: string;
  by: string;
  what: string;
  node?: string;
  version?: number;
}

export interface SessionStore {
  /** Stores a new session. Returns false if its id is taken. */
  create(session: Session): Promise<boolean>;
  get(id: string): Promise<Session | undefined>;
  /** Replaces the session if the stored revision is still `from`. Returns false if the stored revision differs. */
  replace(session: Session, from: number): Promise<boolean>;
  list(query: Range & { client?: string | undefined }): Promise<SessionSummary[]>;
  /** Sessions that expired before `until` (ISO 8601); eventually consistent. */
  expired(until: string): AsyncIterable<SessionSummary>;
  remove(session: Pick<Session, "id" | "client">): Promise<void>;
}

export type SessionSummary = Omit<Session, "state">;
