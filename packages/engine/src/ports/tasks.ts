import type { Approvers, WrittenJson } from "@nova/workflow";
import type { EntryId } from "./chain.ts";

/**
 * `open`: the task has no answer yet. `answered`: it has an answer that Step Functions has not received yet. `sent`:
 * Step Functions has the answer. `expired`: the time was over, or the run was closed. The chain, not the status,
 * decides which answer counts.
 */
export type TaskStatus = "open" | "answered" | "sent" | "expired";

/** Whether the mail about an approval was sent. */
export interface TaskMail {
  to: string[];
  /** A time in ISO 8601. */
  at: string;
  /** The reason why the mail was not sent; absent if it was sent. */
  problem?: string;
}

/**
 * The record of one wait of a run for an answer of a person or for an event. The id of the entry is the place of the
 * wait.
 */
export interface WaitingTask extends EntryId {
  format: 1;
  /** `task_` and a ULID. */
  id: string;
  client: string;
  workflowId: string;
  version: number;
  node: string;
  kind: "approval" | "event";
  /** The question to people, with secrets masked. Empty for a wait for an event. */
  message: string;
  /** JSON schema of the answer's data. */
  form?: WrittenJson;
  /** Forms by choice. A choice that has a form here does not use `form`. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  to: string[];
  /** The people who may answer. Absent: any runner key may answer. */
  approvers?: Approvers;
  /** Mail addresses of people to whom approvers have delegated. The votes say which delegations still count. */
  delegates?: string[];
  /** The times of the reminders, in seconds after `createdAt`, in ascending order. */
  remindSeconds?: number[];
  /** How many reminders were sent. */
  reminded?: number;
  /** Addresses to which NOVA posts the question. */
  notify?: string[];
  pattern?: WrittenJson;
  /** The index keys by which an event finds the task; absent for an approval. */
  wake?: Wake;
  link?: string;
  status: TaskStatus;
  /** A time in ISO 8601. */
  createdAt: string;
  expiresAt: string;
  answeredAt?: string;
  /** Absent if the task has no receivers, or if NOVA has not tried to send a mail yet. */
  mail?: TaskMail;
}

/** Identifies a task in its execution. */
export type TaskKey = Pick<WaitingTask, "execution" | "id">;

/** A task token of Step Functions, encrypted. `key` distinguishes the tokens of one task and does not reveal them. */
export interface SealedToken {
  key: string;
  sealed: string;
}

/**
 * The claim of a person to vote on an approval. The claim prevents the person from also voting on another approval if
 * the two approvals exclude the voters of each other.
 */
export interface VoterClaim extends Omit<EntryId, "execution"> {
  node: string;
  /** The number of the entry after which the vote of this claim is put. */
  after: number;
  /** The time of the claim in ISO 8601. */
  at: string;
}

/** All claims to vote (`VoterClaim`) of one person in one execution. */
export interface Voter {
  /** How often the claims have changed. */
  version: number;
  claims: readonly VoterClaim[];
}

/** Tasks and their tokens (DynamoDB). Reads are strongly consistent unless a method says otherwise. */
export interface TaskStore {
  /** Creates a task with its index keys. Returns false if the task exists. */
  create(task: WaitingTask): Promise<boolean>;
  get(key: TaskKey): Promise<WaitingTask | undefined>;
  /** Finds a task by its id; eventually consistent. */
  find(id: string): Promise<WaitingTask | undefined>;
  ofExecution(execution: string): Promise<WaitingTask[]>;
  hasOpen(execution: string): Promise<boolean>;
  /**
   * Yields tasks that are `open` or `answered`, oldest first, from the creation time `from` on. Eventually consistent.
   */
  pending(from?: string): AsyncIterable<WaitingTask>;
  /** Yields the same tasks as `pending`, but only those of one client and kind. */
  pendingOf(client: string, kind: WaitingTask["kind"], from?: string): AsyncIterable<WaitingTask>;
  /**
   * Changes the status to `to` if the present status is one of `from`. Otherwise, or if there is no such task, returns
   * false.
   */
  move(key: TaskKey, from: readonly TaskStatus[], to: TaskStatus, answeredAt?: string): Promise<boolean>;
  noteMail(key: TaskKey, mail: TaskMail): Promise<void>;
  /** Records how many reminders of a task were sent. */
  noteReminded(key: TaskKey, count: number): Promise<void>;
  /** Stores the mail addresses of people to whom approvers have delegated. Lists of tasks read these addresses. */
  noteDelegates(key: TaskKey, mails: readonly string[]): Promise<void>;
  /** Returns the claims of the person with this id; an empty list if there are none. */
  voter(execution: string, id: string): Promise<Voter>;
  /** Stores the claims if the stored version is still `version`. Otherwise returns false. */
  putVoter(at: Pick<WaitingTask, "execution" | "client">, id: string, voter: Voter): Promise<boolean>;
  /**
   * Stores a token of a task. Each token has its own item, so that a late delivery cannot replace the token of a newer
   * delivery.
   */
  putToken(key: TaskKey, token: SealedToken): Promise<void>;
  tokens(key: TaskKey): Promise<SealedToken[]>;
}

/**
 * Describes where an event has the value that becomes an index key. It lists the source of the event (null: any
 * source), and then the path of the value in the event.
 */
export type WakeShape = readonly [source: string | null, ...way: string[]];

/** The index keys of a task. It has one key for each value that the task's pattern accepts at the path of `shape`. */
export interface Wake {
  shape: WakeShape;
  keys: string[];
}

export interface UsedShape {
  shape: WakeShape;
  /** Whether NOVA keeps events of this shape for waits that start later. */
  keepsEvents: boolean;
}

/** An event that NOVA keeps for waits that start after its arrival. */
export interface KeptEvent {
  id: string;
  /** Time of its arrival, ISO 8601. */
  at: string;
  /** The whole event as JSON text, in EventBridge's form. */
  text: string;
}

/**
 * Finds the tasks that wait for an event, and keeps recent events (DynamoDB, large ones in S3). Reads are strongly
 * consistent. NOVA stores an event before it looks for tasks, and a task before it looks for events. So a task and its
 * event always find each other.
 */
export interface WakeStore {
  shapes(): Promise<UsedShape[]>;
  /** Records that tasks use a shape until this time (ISO 8601). The record stays up to a month longer. */
  use(shape: UsedShape, until: string): Promise<void>;
  /** Returns the tasks with this index key. Some of them may no longer wait. */
  tasksAt(key: string): Promise<{ execution: string; id: string }[]>;
  /** Keeps an event for a week. */
  keepEvent(key: string, event: KeptEvent): Promise<void>;
  /** Yields the kept events under a key that arrived at or after `from`, oldest first. */
  eventsAt(key: string, from: string): AsyncIterable<KeptEvent>;
}

/** A URL at which another system can end a wait. It exists before the wait starts. */
export interface ResumeLink {
  format: 1;
  /** `task_` and a ULID, known before the wait has a task. */
  id: string;
  execution: string;
  client: string;
  scope: string;
  node: string;
  /** The number of earlier visits of the node in its scope, because each visit of a loop has its own resume link. */
  visit: number;
  tokenHash: string;
  /** A time in ISO 8601. */
  createdAt: string;
  /**
   * The body of the request that used the link, as JSON text. Large values in the body are references. Absent: no
   * request has used the link.
   */
  body?: string;
  calledAt?: string;
}

/**
 * The store of resume links (DynamoDB). The links of an execution are stored next to its tasks. Reads are strongly
 * consistent.
 */
export interface ResumeLinkStore {
  /** Stores the link, unless a link with this id exists. */
  create(link: ResumeLink): Promise<void>;
  get(key: TaskKey): Promise<ResumeLink | undefined>;
  ofExecution(execution: string): Promise<ResumeLink[]>;
  /** Records the call of a link. Returns false if the link was called before, because a link works only once. */
  call(key: TaskKey, body: string, at: string): Promise<boolean>;
}

/** Encrypts short texts: KMS in the cloud, AES-256-GCM with a local key on a laptop. */
export interface Vault {
  /**
   * Encrypts at most 4,096 bytes (the limit of KMS). `context` is not secret: `open` needs exactly the same context.
   */
  seal(text: string, context: Record<string, string>): Promise<string>;
  /** Throws `VaultLocked` if the key or the context differs, or if the text was changed. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
}
