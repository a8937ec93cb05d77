import type { LinkId, StoredEntry } from "./chain.ts";
import type { Sandbox } from "./sandboxes.ts";

/** The links that this process wrote last, for the nodes behind them. Its entries are what a read would have found. */
export interface TailCache {
  /** Only by the delivery whose put wrote the entry. */
  keep(at: LinkId, entry: StoredEntry, nowMs: number): void;
  /** Once: a second delivery of the node has to read. */
  take(at: LinkId, nowMs: number): StoredEntry | undefined;
}

/** Sandboxes of scopes that have ended, for scopes of the same execution that begin. */
export interface WarmPool {
  /** Only by the delivery that wrote the scope's last entry: nobody else can offer it, and nothing runs in it. */
  offer(execution: string, sandbox: Sandbox): void;
  /** The one that was used last: it lives longest. */
  take(execution: string): Sandbox | undefined;
  /** All that are left, of an execution that has ended. */
  takeAll(execution: string): Sandbox[];
  /** Forgets sandboxes whose time is over; their executions may have been closed elsewhere. */
  forgetDead(nowMs: number): void;
}

/** The runs whose nodes this process runs, also where nobody waits for the node any more. */
export interface InFlight {
  during<T>(execution: string, work: () => Promise<T>): Promise<T>;
  /** Ids of executions. */
  readonly runs: string[];
}

/** Ends of executions that this process has closed, for whoever waits for them here. */
export interface Endings {
  tell(execution: string): void;
  /** Resolves at its end, or after this time where that is not told here. */
  wait(execution: string, longestMs: number): Promise<void>;
}
