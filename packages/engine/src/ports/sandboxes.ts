import type { NodeType } from "@nova/workflow";
import type { BlobRef } from "./blobs.ts";

/** A sandbox that one scope of one execution uses. */
export interface Sandbox {
  id: string;
  /** ISO 8601. The plan's limit counts from this time. */
  createdAt: string;
  /** ISO 8601. Its end, unless it is extended. A sandbox that would not outlive the next node is replaced. */
  endsAt: string;
  /** Absent if no other execution has used it or will use it. */
  pool?: SandboxPool;
  /** Another execution has left it. */
  inherited?: true;
}

/** Executions that may use a sandbox one after another: those of one client with the same environment. */
export interface SandboxPool {
  key: string;
  /** Seconds to wait for the next execution; with 0 the sandbox ends with this execution. */
  idleSeconds: number;
}

export interface SandboxSpec {
  template: string;
  execution: string;
  scope: string;
  lifetimeSeconds: number;
  lib: Record<string, string>;
  /** Its code imports no packages of the template, so they need not be loaded. */
  light?: true;
  pool?: SandboxPool;
  /** False: no network at all. */
  internet: boolean;
  /** Names (ports 80 and 443), addresses and ranges that its code may connect to. Absent if all are allowed. */
  reach?: string[];
}

/** A claim is a file that is created once in the sandbox. `link` is the text of `entryName()`. */
export interface Claim {
  link: string;
  step: number;
  attempt: number;
}

export interface RunRequest {
  /** After a sandbox has run code of another execution, it runs none of this one any more. */
  execution: string;
  claim: Claim;
  node: string;
  nodeType: NodeType;
  code: string;
  /** File name for tracebacks, such as `nodes/extract.py`. */
  fileName: string;
  timeoutSeconds: number;
  /** In order. `json` is JSON text; a `{"$blob": ...}` inside it stands for a blob, loaded on first access. */
  context: { key: string; json: string }[];
  environment: Record<string, string>;
  /** It contains no secrets, so it may leave traces in the sandbox. */
  isPlain?: true;
  /** The execution ends after this run unless it fails, so the sandbox need not prepare another run. */
  isLast?: true;
  /**
   * The only targets that the code can connect to, as `host` or `host:port`. A host in `addresses` is reached only at
   * these addresses. Absent: all targets of the sandbox, except its own machine. `run` throws `NodeFailed` if the
   * sandbox cannot enforce it.
   */
  network?: { allow: string[]; addresses?: Record<string, string[]> };
  /** Without `network`: hosts, in the same form, that the code may reach even if they are on the sandbox's machine. */
  near?: string[];
}

/** Requests of a running node, and the store for its large results. All bytes stream. */
export interface RunIo {
  /** Only references from the given context are served. */
  openBlob(ref: BlobRef): Promise<AsyncIterable<Uint8Array>>;
  storeBlob(ref: BlobRef, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** `outputs[node]`: JSON text of the node's last result (an object that may hold blob references), or null. */
  outputs(node: string): Promise<string | null>;
  outputNames(): Promise<string[]>;
  /** `tasks[node].url`: the address at which one `POST` lets a later wait continue; null if there is no such wait. */
  taskUrl(node: string): Promise<string | null>;
}

/** The result of the code. `set` values are JSON text that may hold blob references; new blobs are stored already. */
export type CodeResult = {
  logs: string;
  durationMs: number;
  /** The code had to be killed, or could not be isolated: its sandbox serves no other execution. */
  isUnfit?: true;
} & (
  | { status: "success"; set: { key: string; json: string }[]; delete: string[] }
  | {
      status: "error";
      class: "NodeFailed" | "NodeTimeout";
      message: string;
      traceback: string;
      types?: string[] | undefined;
      httpStatus?: number | undefined;
      /** The response's `Retry-After` header: seconds, or an HTTP date. */
      retryAfter?: string | undefined;
    }
);

export type RunOutcome =
  | { kind: "finished"; result: CodeResult }
  /** The link has a tombstone: the chain has to be read again. */
  | { kind: "tombstoned" }
  /** The control plane says that the sandbox does not exist. This may be known before `turnWritten` is. */
  | { kind: "gone" }
  /** `signal` fired, or the connection could not be restored in time. The code may still run. */
  | { kind: "unfinished" }
  /** `turnWritten` resolved to false: no code ran. */
  | { kind: "refused" };

export interface RunOptions {
  /** This delivery wrote the turn itself: true for at most one delivery of a claim. */
  first: boolean;
  /** The code may start only after this resolves to true (the turn is written while the input uploads). */
  turnWritten: Promise<boolean>;
  /** Seconds that the sandbox must live from now on. */
  lifetimeSeconds: number;
  /** Fires when this Lambda has to stop; then return `unfinished`. */
  signal: AbortSignal;
}

export type StopOutcome =
  /** The code had finished before, with this result. */
  | { kind: "finished"; result: CodeResult }
  /** The tombstone exists, and every running claim of the link has ended. */
  | { kind: "stopped"; logs: string }
  | { kind: "gone" };

/** The output of running code so far. `size` is its length in bytes; `tail` holds its last 64 KB at most. */
export interface RunningLog extends Pick<Claim, "step" | "attempt"> {
  size: number;
  tail: Uint8Array;
}

/** Python in sandboxes. Code above this port does not know E2B. */
export interface Sandboxes {
  /**
   * Creates a sandbox. While the plan's limit delays it, `instead` is called now and then for one that has become free.
   * Throws `SandboxUnavailable` (429, no capacity, unreachable).
   */
  create(spec: SandboxSpec, instead?: () => Promise<Sandbox | null>): Promise<Sandbox>;
  /** Claims or attaches, sends the input and waits. Never throws for errors of the code. */
  run(sandbox: string, request: RunRequest, io: RunIo, options: RunOptions): Promise<RunOutcome>;
  /** Returns the result of a finished `claim`; otherwise ends all claims of the link. Throws `SandboxUnavailable`. */
  stop(sandbox: string, claim: Claim, io: RunIo, signal: AbortSignal): Promise<StopOutcome>;
  /** The log of the running claim; null if none runs or has printed. Throws `SandboxUnavailable`. */
  runningLog(sandbox: string, link: string, signal: AbortSignal): Promise<RunningLog | null>;
  /** Extends its life to this long from now; null if the plan's limit forbids it, or if it is gone. */
  extend(sandbox: Sandbox, lifetimeSeconds: number): Promise<Sandbox | null>;
  /** Limits the life of an unused sandbox to this long from now; null if it is gone. */
  rest(sandbox: Sandbox, seconds: number): Promise<Sandbox | null>;
  kill(sandbox: string): Promise<void>;
  count(): Promise<number>;
  /** Kills every sandbox that was made for this execution according to its metadata, except `except`. */
  killAll(execution: string, except?: ReadonlySet<string>): Promise<void>;
}

/** Resolves host names, where functions run. */
export interface HostNames {
  /** Empty if the name does not exist. Throws `SandboxUnavailable` if it cannot be resolved now. */
  addressesOf(host: string): Promise<string[]>;
}
