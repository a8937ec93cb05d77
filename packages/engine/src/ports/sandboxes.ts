import type { NodeType } from "@nova/workflow";
import type { BlobRef } from "./blobs.ts";

/** A sandbox that one scope of one execution uses. */
export interface Sandbox {
  id: string;
  /** ISO 8601. The maximum lifetime that E2B's plan allows starts at this time. */
  createdAt: string;
  /**
   * The time at which E2B ends the sandbox unless its life is extended, ISO 8601. If the sandbox would end before the
   * end of the next node, that node gets another sandbox.
   */
  endsAt: string;
  /** The executions that may use the sandbox. Absent if only one execution uses it. */
  pool?: SandboxPool;
  /** Set if another execution used the sandbox before this execution. */
  inherited?: true;
}

/** Executions that may use a sandbox one after another: those of one client with the same environment. */
export interface SandboxPool {
  key: string;
  /** How many seconds an idle sandbox waits for the next execution. With 0, the sandbox ends with its execution. */
  idleSeconds: number;
}

export interface SandboxSpec {
  template: string;
  execution: string;
  scope: string;
  lifetimeSeconds: number;
  lib: Record<string, string>;
  /** Set if no code in this sandbox imports packages or large modules, so that the sandbox need not load them. */
  light?: true;
  pool?: SandboxPool;
  /** False if code in this sandbox may not use any network. */
  internet: boolean;
  /**
   * Host names (for ports 80 and 443), addresses and address ranges to which code in this sandbox may connect. Absent
   * if the code may connect to all hosts.
   */
  reach?: string[];
}

/**
 * Names one run of code. Before the harness starts the code, it creates a file with this name in the sandbox, so that
 * the code starts only once. `link` is the result of `entryName()`.
 */
export interface Claim {
  link: string;
  step: number;
  attempt: number;
}

export interface RunRequest {
  /**
   * Id of the execution. The sandbox refuses the code of this execution after code of a later execution has run there.
   */
  execution: string;
  claim: Claim;
  node: string;
  nodeType: NodeType;
  code: string;
  /** File name for tracebacks, such as `nodes/extract.py`. */
  fileName: string;
  timeoutSeconds: number;
  /**
   * The context of the code, in order. `json` is JSON text; a `{"$blob": ...}` inside it stands for a blob that is
   * loaded when code first reads it.
   */
  context: { key: string; json: string }[];
  environment: Record<string, string>;
  /**
   * Only for the code of a compiled agent: the calls of its tools that are on record, in order. The result of code that
   * makes a further call sets only `callKey`.
   */
  calls?: readonly RecordedCall[];
  /**
   * Set if this request contains no secrets, so that files and processes of the sandbox may keep parts of the request.
   */
  isPlain?: true;
  /**
   * Set if the execution ends as soon as this code has succeeded, so that the sandbox need not prepare for more code.
   */
  isLast?: true;
  /**
   * The only targets to which the code can connect, as `host` or `host:port`. A host that `addresses` names is reached
   * only at the addresses listed there. If absent, the code can connect to all targets that the sandbox allows, except
   * the sandbox's own machine. `run` throws `NodeFailed` if the sandbox cannot enforce this limit.
   */
  network?: { allow: string[]; addresses?: Record<string, string[]> };
  /**
   * Used only without `network`: hosts, as `host` or `host:port`, that the code may reach even on the sandbox's own
   * machine.
   */
  near?: string[];
}

/** A call with its arguments and its result as JSON texts. */
export type RecordedCall = [name: string, args: string, result: string, hasFailed: boolean];

/** The key under which code sets the call that it requests: `{name, arguments}`, where `arguments` is a JSON text. */
export const callKey = "$call";

/** Answers requests of running code, and stores its large results. All bytes are streamed. */
export interface RunIo {
  /** Opens a blob to which the context in the request refers. Refuses any other blob. */
  openBlob(ref: BlobRef): Promise<AsyncIterable<Uint8Array>>;
  storeBlob(ref: BlobRef, body: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Returns the value of `outputs[node]`: the JSON text of the node's last result, which may contain blob references,
   * or null.
   */
  outputs(node: string): Promise<string | null>;
  outputNames(): Promise<string[]>;
  /**
   * Returns the value of `tasks[node].url`: the URL at which one `POST` ends the later wait `node`; null if there is no
   * such wait.
   */
  taskUrl(node: string): Promise<string | null>;
}

/**
 * The result of code. The values in `set` are JSON texts that may contain references to blobs, which are stored
 * already.
 */
export type CodeResult = {
  logs: string;
  durationMs: number;
  /** Set if the code had to be killed or could not be isolated. Then no other execution may use the sandbox. */
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
  /** The sandbox has a tombstone for this entry, so the code did not start. The caller has to read the chain again. */
  | { kind: "tombstoned" }
  /** E2B says that the sandbox does not exist. This outcome may come before `turnWritten` resolves. */
  | { kind: "gone" }
  /** `signal` fired, or a lost connection was not restored in time. The code may still run. */
  | { kind: "unfinished" }
  /** `turnWritten` resolved to false, so no code ran. */
  | { kind: "refused" };

export interface RunOptions {
  /** Whether this delivery wrote the turn. At most one delivery of a claim does so. */
  first: boolean;
  /** Resolves to true when the turn is written. The input uploads meanwhile, but the code starts only then. */
  turnWritten: Promise<boolean>;
  /** Seconds that the sandbox must live from now on. */
  lifetimeSeconds: number;
  /** Fires when this Lambda has to stop. `run` then returns `unfinished`. */
  signal: AbortSignal;
}

export type StopOutcome =
  /** The code had finished before `stop` was called, with this result. */
  | { kind: "finished"; result: CodeResult }
  /** The sandbox now has a tombstone for the entry, and no code of the entry runs any more. */
  | { kind: "stopped"; logs: string }
  | { kind: "gone" };

/**
 * The output that running code has printed so far. `size` is its length in bytes; `tail` holds its last 64 KB at most.
 */
export interface RunningLog extends Pick<Claim, "step" | "attempt"> {
  size: number;
  tail: Uint8Array;
}

/** Runs Python in sandboxes. Only implementations of this port know E2B. */
export interface Sandboxes {
  /**
   * Creates a sandbox. While E2B's plan allows no further sandbox, this method calls `instead` from time to time, and
   * returns the free sandbox that `instead` finds. Calls `onSlot` when the plan allows the sandbox. Throws
   * `SandboxUnavailable` if E2B answers with 429, has no capacity or is unreachable.
   */
  create(spec: SandboxSpec, instead?: () => Promise<Sandbox | null>, onSlot?: () => void): Promise<Sandbox>;
  /**
   * Starts the code, or attaches to it if another delivery has started it, and waits for its outcome. An error of the
   * code is an outcome, not an exception.
   */
  run(sandbox: string, request: RunRequest, io: RunIo, options: RunOptions): Promise<RunOutcome>;
  /**
   * Returns the result if the code of `claim` has finished; otherwise ends all code of the same entry. Throws
   * `SandboxUnavailable` if the sandbox does not answer.
   */
  stop(sandbox: string, claim: Claim, io: RunIo, signal: AbortSignal): Promise<StopOutcome>;
  /**
   * Returns the log of the code that runs for this entry; null if no code runs or the code has printed nothing. Throws
   * `SandboxUnavailable` if the sandbox does not answer.
   */
  runningLog(sandbox: string, link: string, signal: AbortSignal): Promise<RunningLog | null>;
  /**
   * Extends the life of the sandbox to `lifetimeSeconds` from now. Returns null if E2B's plan does not allow this
   * lifetime, or if the sandbox no longer exists.
   */
  extend(sandbox: Sandbox, lifetimeSeconds: number): Promise<Sandbox | null>;
  /** Limits the life of an unused sandbox to `seconds` from now. Returns null if the sandbox no longer exists. */
  rest(sandbox: Sandbox, seconds: number): Promise<Sandbox | null>;
  kill(sandbox: string): Promise<void>;
  count(): Promise<number>;
  /** Kills every sandbox whose metadata names this execution as its creator, apart from those in `except`. */
  killAll(execution: string, except?: ReadonlySet<string>): Promise<void>;
}

/** Resolves host names in the network of the functions. */
export interface HostNames {
  /**
   * Returns the addresses of a host name; an empty list if the name does not exist. Throws `SandboxUnavailable` if the
   * name cannot be resolved at this time.
   */
  addressesOf(host: string): Promise<string[]>;
}
