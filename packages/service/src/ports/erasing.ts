import type { BlobHome } from "@nova/engine";

/** A scope whose items lie together, of an execution. */
export interface ErasableScope {
  execution: string;
  scope: string;
}

/** Takes away what people stored, and leaves what proves that it was there. Everything may be done twice. */
export interface Eraser {
  /**
   * Contents of the entries and steps that lie with this scope; answers where more of it lies: items of maps,
   * executions that nodes ran.
   */
  contents(at: ErasableScope): Promise<ErasableScope[]>;
  /** What an execution waited for, with its tokens, and in its record the words of its error. */
  traces(execution: string): Promise<void>;
  blobs(home: BlobHome): Promise<void>;
  /** All objects of a client. */
  objects(client: string): Promise<void>;
  /**
   * Everything else that names a client, but for executions, the audit and the client itself: reads the table, a part of
   * it at a time. Answers where to go on; undefined at the end.
   */
  rest(client: string, cursor?: string): Promise<string | undefined>;
}

/** Clients that wait to be erased; with `execution` a run that began while its client was. */
export interface ErasureQueue {
  /** The same one may come twice. */
  enqueue(erasure: { client: string; execution?: string }): Promise<void>;
}
