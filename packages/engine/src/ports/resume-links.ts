import type { TaskKey } from "./tasks.ts";

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
