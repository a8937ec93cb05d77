import type { JsonObject, WrittenJson } from "@nova/workflow";
import type { LinkId } from "./chain.ts";
import type { Wake } from "./wakes.ts";

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
  form?: JsonObject;
  /** By choice, for those that have one of their own: it takes the place of `form`. */
  forms?: Record<string, JsonObject>;
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
