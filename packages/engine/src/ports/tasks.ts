import type { WrittenJson } from "@nova/workflow";
import type { LinkId } from "./chain.ts";

/**
 * `open`: nobody has answered. `answered`: an answer is on its way into the chain, or there and not yet handed to Step
 * Functions. `sent`: it was. `expired`: the time was over, or the run was closed. The chain, not this, says which answer
 * counts.
 */
export type TaskStatus = "open" | "answered" | "sent" | "expired";

/** What became of the mail about an approval. */
export interface TaskMail {
  to: string[];
  /** ISO 8601. */
  at: string;
  /** Why it was not sent; absent: it was. */
  problem?: string;
}

/** A run waits at a link until somebody outside answers: a person, or an event. */
export interface WaitingTask extends LinkId {
  format: 1;
  /** `task_` and a ULID. */
  id: string;
  /** Whose run it is; absent in tasks of earlier releases, of which lists of one client know nothing. */
  client?: string;
  workflowId: string;
  version: number;
  node: string;
  kind: "approval" | "event";
  /** What people are asked, secrets masked; empty for an event. */
  message: string;
  /** JSON schema of the data that comes with an answer. */
  form?: WrittenJson;
  /** By choice, for those that have one of their own: it takes the place of `form`. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  to: string[];
  /** What an event must be like, values of the context in the place of its templates. */
  pattern?: WrittenJson;
  /** Where an event finds it; absent in tasks of earlier releases until the first event comes. */
  wake?: Wake;
  /** Id of the resume link that was handed out for it. */
  link?: string;
  status: TaskStatus;
  /** ISO 8601. */
  createdAt: string;
  expiresAt: string;
  answeredAt?: string;
  /** Absent: nobody is to get one, or none was tried yet. */
  mail?: TaskMail;
}

/** Identifies a task in its execution. */
export type TaskKey = Pick<WaitingTask, "execution" | "id">;

/** A task token of Step Functions, encrypted. `key` tells tokens of one task apart and gives nothing away. */
export interface SealedToken {
  key: string;
  sealed: string;
}

/** Tasks and their tokens (DynamoDB). Reads are strongly consistent where nothing else is said. */
export interface TaskStore {
  /** With its places among those that events find. False when the task is there already. */
  create(task: WaitingTask): Promise<boolean>;
  /** Gives a task of an earlier release its places. */
  place(key: WaitingTask, wake: Wake): Promise<void>;
  get(key: TaskKey): Promise<WaitingTask | undefined>;
  /** By its id alone; eventually consistent. */
  find(id: string): Promise<WaitingTask | undefined>;
  /** All tasks of an execution, oldest first. */
  ofExecution(execution: string): Promise<WaitingTask[]>;
  /** Whether a task of the execution is `open`. */
  hasOpen(execution: string): Promise<boolean>;
  /** Tasks that are `open` or `answered`, oldest first; `from`: created then or later. Eventually consistent. */
  pending(from?: string): AsyncIterable<WaitingTask>;
  /** The same of one client and one kind: reads those of no other. Events of tasks of earlier releases are not among them. */
  pendingOf(client: string, kind: WaitingTask["kind"], from?: string): AsyncIterable<WaitingTask>;
  /** Sets the status where it is one of `from`; false where it is not, or there is no such task. */
  move(key: TaskKey, from: readonly TaskStatus[], to: TaskStatus, answeredAt?: string): Promise<boolean>;
  noteMail(key: TaskKey, mail: TaskMail): Promise<void>;
  /** One item per token: a late delivery replaces none. */
  putToken(key: TaskKey, token: SealedToken): Promise<void>;
  tokens(key: TaskKey): Promise<SealedToken[]>;
}

/** Which tasks an event may wake: of one source or any (null), found by one value of it or by none. */
export type WakeShape = readonly [source: string | null, ...way: string[]];

/** Where a task is found: under each key that its shape makes of the values that its pattern lists. */
export interface Wake {
  shape: WakeShape;
  keys: string[];
}

export interface UsedShape {
  shape: WakeShape;
  /** Events that it makes keys of are kept, since a wait that begins later may look for them. */
  keepsEvents: boolean;
}

/** An event that came before anybody waited for it. */
export interface KeptEvent {
  id: string;
  /** ISO 8601: when it came. */
  at: string;
  /** JSON text, in EventBridge's shape, the detail whole. */
  text: string;
}

/**
 * Tasks by what wakes them, and recent events (DynamoDB, large ones in S3). Reads are strongly consistent: an event that is
 * kept before tasks are looked for, and a task that is written before events are, cannot miss one another.
 */
export interface WakeStore {
  /** `isWhole`: false until every task of earlier releases has its place here. */
  shapes(): Promise<{ shapes: UsedShape[]; isWhole: boolean }>;
  markWhole(): Promise<void>;
  /** In use until then, ISO 8601, and maybe a month longer; written where that is not known yet. */
  use(shape: UsedShape, until: string): Promise<void>;
  /** Tasks under a key. Some may have gone on. */
  tasksAt(key: string): Promise<{ execution: string; id: string }[]>;
  /** For a week. */
  keepEvent(key: string, event: KeptEvent): Promise<void>;
  /** Those under a key that came then or later, oldest first. */
  eventsAt(key: string, from: string): AsyncIterable<KeptEvent>;
}

/** An address by which another system lets a wait go on, handed out before the wait begins. */
export interface ResumeLink {
  format: 1;
  /** `task_` and a ULID, known before the wait has a task. */
  id: string;
  execution: string;
  /** Whose run it is. */
  client: string;
  scope: string;
  node: string;
  /** How often the node had been visited in its scope: a loop has a link for each visit. */
  visit: number;
  /** SHA-256 of the token. */
  tokenHash: string;
  /** ISO 8601. */
  createdAt: string;
  /** JSON text that came with the one call, as a context keeps it; absent until then. */
  body?: string;
  calledAt?: string;
}

/** Links lie beside the tasks of their execution (DynamoDB). Reads are strongly consistent. */
export interface ResumeLinkStore {
  /** Keeps one that is there. */
  create(link: ResumeLink): Promise<void>;
  get(key: TaskKey): Promise<ResumeLink | undefined>;
  ofExecution(execution: string): Promise<ResumeLink[]>;
  /** Once: false where it was called before. */
  call(key: TaskKey, body: string, at: string): Promise<boolean>;
}

/** Encrypts short texts: KMS in the cloud, AES-256-GCM with a key at hand on a laptop. */
export interface Vault {
  /** `context` is not secret; the text opens with exactly the same one only. At most 4,096 bytes (KMS Encrypt). */
  seal(text: string, context: Record<string, string>): Promise<string>;
  /** Throws `VaultLocked` where the key or the context is another one, or the text was changed. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
}
