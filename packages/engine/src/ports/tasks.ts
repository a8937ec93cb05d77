import type { WrittenJson } from "@nova/workflow";
import type { EntryId } from "./chain.ts";

/**
 * `open`: without an answer. `answered`: the answer is on its way to the chain, or there, but not yet sent to Step
 * Functions. `sent`: Step Functions has it. `expired`: the time was over, or the run was closed. The chain, not the
 * status, decides which answer counts.
 */
export type TaskStatus = "open" | "answered" | "sent" | "expired";

/** The result of the mail about an approval. */
export interface TaskMail {
  to: string[];
  /** ISO 8601. */
  at: string;
  /** The reason why it was not sent; absent if it was sent. */
  problem?: string;
}

/** A run waits at an entry for an answer of a person, or for an event. */
export interface WaitingTask extends EntryId {
  format: 1;
  /** `task_` and a ULID. */
  id: string;
  client: string;
  workflowId: string;
  version: number;
  node: string;
  kind: "approval" | "event";
  /** The question to people, secrets masked; empty for an event. */
  message: string;
  /** JSON schema of the answer's data. */
  form?: WrittenJson;
  /** Forms of choices, which replace `form` for these choices. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  to: string[];
  pattern?: WrittenJson;
  /** Index keys under which an event finds the task; absent for an approval. */
  wake?: Wake;
  link?: string;
  status: TaskStatus;
  /** ISO 8601. */
  createdAt: string;
  expiresAt: string;
  answeredAt?: string;
  /** Absent: the task has no receivers, or NOVA has tried no mail yet. */
  mail?: TaskMail;
}

/** Identifies a task in its execution. */
export type TaskKey = Pick<WaitingTask, "execution" | "id">;

/** An encrypted task token of Step Functions. `key` distinguishes the tokens of a task and reveals nothing. */
export interface SealedToken {
  key: string;
  sealed: string;
}

/** Tasks and their tokens (DynamoDB). Reads are strongly consistent unless a method says otherwise. */
export interface TaskStore {
  /** Creates a task with its index keys; false if it exists. */
  create(task: WaitingTask): Promise<boolean>;
  get(key: TaskKey): Promise<WaitingTask | undefined>;
  /** Finds a task by its id; eventually consistent. */
  find(id: string): Promise<WaitingTask | undefined>;
  ofExecution(execution: string): Promise<WaitingTask[]>;
  hasOpen(execution: string): Promise<boolean>;
  /** Tasks that are `open` or `answered`, oldest first; `from`: created then or later. Eventually consistent. */
  pending(from?: string): AsyncIterable<WaitingTask>;
  /** Like `pending`, for one client and kind. */
  pendingOf(client: string, kind: WaitingTask["kind"], from?: string): AsyncIterable<WaitingTask>;
  /** Sets the status if it is one of `from`; returns false otherwise, or if there is no such task. */
  move(key: TaskKey, from: readonly TaskStatus[], to: TaskStatus, answeredAt?: string): Promise<boolean>;
  noteMail(key: TaskKey, mail: TaskMail): Promise<void>;
  /** Stores a token in an item of its own, so that a late delivery replaces none. */
  putToken(key: TaskKey, token: SealedToken): Promise<void>;
  tokens(key: TaskKey): Promise<SealedToken[]>;
}

/** Shape of an index key: the source of events (null: any), and the path of one value in them. */
export type WakeShape = readonly [source: string | null, ...way: string[]];

/** The index keys of a task: one for each value that its pattern lists at the path of the shape. */
export interface Wake {
  shape: WakeShape;
  keys: string[];
}

export interface UsedShape {
  shape: WakeShape;
  /** True if NOVA keeps events of this shape for waits that start later. */
  keepsEvents: boolean;
}

/** An event that NOVA keeps for later waits. */
export interface KeptEvent {
  id: string;
  /** Time of its arrival, ISO 8601. */
  at: string;
  /** JSON text in EventBridge's form, with the whole detail. */
  text: string;
}

/**
 * The index from events to tasks, and recent events (DynamoDB, large ones in S3). Reads are strongly consistent: NOVA keeps
 * an event before it looks for tasks, and writes a task before it looks for events, so the two cannot miss each other.
 */
export interface WakeStore {
  shapes(): Promise<UsedShape[]>;
  /** Marks a shape as used until a time (ISO 8601), and up to a month longer. */
  use(shape: UsedShape, until: string): Promise<void>;
  /** Tasks under a key; some may no longer wait. */
  tasksAt(key: string): Promise<{ execution: string; id: string }[]>;
  /** Keeps an event for a week. */
  keepEvent(key: string, event: KeptEvent): Promise<void>;
  /** Events under a key that arrived then or later, oldest first. */
  eventsAt(key: string, from: string): AsyncIterable<KeptEvent>;
}

/** An address at which another system lets a wait continue. It exists before the wait starts. */
export interface ResumeLink {
  format: 1;
  /** `task_` and a ULID, known before the wait has a task. */
  id: string;
  execution: string;
  client: string;
  scope: string;
  node: string;
  /** How often the node had been visited in its scope: a loop has a link for each visit. */
  visit: number;
  tokenHash: string;
  /** ISO 8601. */
  createdAt: string;
  /** JSON text from the one call, in the form of a context; absent before the call. */
  body?: string;
  calledAt?: string;
}

/** Resume links are stored beside the tasks of their execution (DynamoDB). Reads are strongly consistent. */
export interface ResumeLinkStore {
  /** Keeps an existing link. */
  create(link: ResumeLink): Promise<void>;
  get(key: TaskKey): Promise<ResumeLink | undefined>;
  ofExecution(execution: string): Promise<ResumeLink[]>;
  /** Records the one call; returns false if the link was called before. */
  call(key: TaskKey, body: string, at: string): Promise<boolean>;
}

/** Encrypts short texts: KMS in the cloud, AES-256-GCM with a local key on a laptop. */
export interface Vault {
  /** `context` is not secret; the text opens only with exactly the same context. At most 4,096 bytes (KMS Encrypt). */
  seal(text: string, context: Record<string, string>): Promise<string>;
  /** Throws `VaultLocked` if the key or the context differs, or if the text was changed. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
}
