import type { NodeType } from "@nova/workflow";
import type { BlobRef } from "./blobs.ts";

/** A sandbox that one scope of one execution uses. */
export interface Sandbox {
  id: string;
  /** ISO 8601. The plan's limit counts from here. */
  createdAt: string;
  /** ISO 8601; when it dies unless it is extended. A sandbox that would not outlive the next node is replaced before it. */
  endsAt: string;
  /** Absent: no other execution has had it, and none will. */
  pool?: SandboxPool;
  /** Another execution has left it. */
  inherited?: true;
}

/** Executions that may use a sandbox one after another: those of one client, with the same surroundings. */
export interface SandboxPool {
  key: string;
  /** How long it waits for the next execution; 0: it dies with this one. */
  idleSeconds: number;
}

export interface SandboxSpec {
  template: string;
  execution: string;
  scope: string;
  /** Seconds it must live from now on. */
  lifetimeSeconds: number;
  lib: Record<string, string>;
  /** Its code imports none of the template's packages: whoever makes it need not load them. */
  light?: true;
  /** Absent: it dies with its execution. */
  pool?: SandboxPool;
  /** False: no network at all. */
  internet: boolean;
  /** Names (ports 80 and 443), addresses and ranges that its code may connect to. Absent: anything. */
  reach?: string[];
}

/** A claim is a file made once in the sandbox. `link` is the text of `linkName()`. */
export interface Claim {
  link: string;
  step: number;
  attempt: number;
}

export interface RunRequest {
  /** Once a sandbox has run code of another execution it runs none of this one any more. */
  execution: string;
  claim: Claim;
  node: string;
  nodeType: NodeType;
  code: string;
  /** File name for tracebacks, such as `nodes/extract.py`. */
  fileName: string;
  timeoutSeconds: number;
  /** In order. `json` is a value's JSON text; a `{"$blob": ...}` inside it stands for a blob, loaded on first access. */
  context: { key: string; json: string }[];
  environment: Record<string, string>;
  /** Nothing in it is secret: it may leave traces in the sandbox. */
  isPlain?: true;
  /** Its execution ends behind it, unless it fails: nothing need be made ready for another run of code. */
  isLast?: true;
  /**
   * What the code can connect to, as `host` or `host:port`, and nothing else; a host that `addresses` names by these
   * alone. Absent: whatever the sandbox can, but not the machine that it is on. `run` throws `NodeFailed` where the
   * sandbox has no way to hold it.
   */
  network?: { allow: string[]; addresses?: Record<string, string[]> };
  /** Without `network`: hosts, in the same words, that the code may reach even where they are on the sandbox's machine. */
  near?: string[];
}

/** What a running node may ask for, and where its large results go. All bytes stream. */
export interface RunIo {
  /** Only references that were in the context given are served. */
  openBlob(ref: BlobRef): Promise<AsyncIterable<Uint8Array>>;
  storeBlob(ref: BlobRef, body: AsyncIterable<Uint8Array>): Promise<void>;
  /** `outputs[node]`: JSON text of what that node set last (an object; may hold blob references), or null. */
  outputs(node: string): Promise<string | null>;
  /** Names of the nodes that have results, for iteration over `outputs`. */
  outputNames(): Promise<string[]>;
  /** `tasks[node].url`: where a wait that comes later goes on by one `POST`; null where there is no such wait. */
  taskUrl(node: string): Promise<string | null>;
}

/** What the code did. `set` values are JSON text that may hold blob references, every new one stored already. */
export type CodeResult = {
  logs: string;
  durationMs: number;
  /** The code had to be killed, or its walls could not be made: its sandbox serves no other execution. */
  isUnfit?: true;
} & (
  | { status: "success"; set: { key: string; json: string }[]; delete: string[] }
  | {
      status: "error";
      class: "NodeFailed" | "NodeTimeout";
      message: string;
      traceback: string;
      /** Of an exception: the names of its class and of those it derives from, with modules. The code can make them up. */
      types?: string[] | undefined;
      /** Of an exception that tells of an HTTP response: its status. */
      httpStatus?: number | undefined;
      /** Its header of this name: seconds, or an HTTP date. */
      retryAfter?: string | undefined;
    }
);

export type RunOutcome =
  | { kind: "finished"; result: CodeResult }
  /** A tombstone lies on the link: the chain has to be read again. */
  | { kind: "tombstoned" }
  /** The control plane says that there is no such sandbox; this may be known before `turnWritten` is. */
  | { kind: "gone" }
  /** `signal` fired or the connection could not be restored in time; the code may run on. */
  | { kind: "unfinished" }
  /** `turnWritten` answered false: nothing was executed. */
  | { kind: "refused" };

export interface RunOptions {
  /** This delivery took the turn itself. At most one delivery of a claim is told so: it may use the default context. */
  first: boolean;
  /** The code may begin only once this is true (the turn is written while the input uploads). */
  turnWritten: Promise<boolean>;
  /** Seconds that the sandbox must live from now on. */
  lifetimeSeconds: number;
  /** Fires when this Lambda has to stop: answer `unfinished`. */
  signal: AbortSignal;
}

export type StopOutcome =
  /** It had finished before: this is its outcome. */
  | { kind: "finished"; result: CodeResult }
  /** Tombstone made, every running claim of the link dead. */
  | { kind: "stopped"; logs: string }
  | { kind: "gone" };

/** What running code has printed so far. `size`: bytes of all of it, of which `tail` is the end: at most 64 KB. */
export interface RunningLog extends Pick<Claim, "step" | "attempt"> {
  size: number;
  tail: Uint8Array;
}

/** Python in sandboxes; nothing behind this port knows E2B. */
export interface Sandboxes {
  /**
   * A new one. While a plan lets others be made first, `instead` is asked now and then for one that has become free.
   * Throws `SandboxUnavailable` (429, no capacity, unreachable).
   */
  create(spec: SandboxSpec, instead?: () => Promise<Sandbox | null>): Promise<Sandbox>;
  /** Claims or attaches, feeds, waits. Never throws for what the code does. */
  run(sandbox: string, request: RunRequest, io: RunIo, options: RunOptions): Promise<RunOutcome>;
  /** A finished `claim` answers its result; else all claims of the link end. Throws `SandboxUnavailable`. */
  stop(sandbox: string, claim: Claim, io: RunIo, signal: AbortSignal): Promise<StopOutcome>;
  /** Of the claim that runs; null where none runs or printed anything. Throws `SandboxUnavailable`. */
  runningLog(sandbox: string, link: string, signal: AbortSignal): Promise<RunningLog | null>;
  /** Lets it live this long from now; null when it cannot (the plan's limit since `createdAt`, or it is gone). */
  extend(sandbox: Sandbox, lifetimeSeconds: number): Promise<Sandbox | null>;
  /** Lets it live this long from now and no longer, since nobody uses it; null when it is gone. */
  rest(sandbox: Sandbox, seconds: number): Promise<Sandbox | null>;
  kill(sandbox: string): Promise<void>;
  /** How many NOVA has now. */
  count(): Promise<number>;
  /** Kills every sandbox whose metadata name this execution as the one it was made for, but those of `except`. */
  killAll(execution: string, except?: ReadonlySet<string>): Promise<void>;
}

/** Looks names up, where functions run. */
export interface HostNames {
  /** Addresses of a name; none where there is no such name. Throws `SandboxUnavailable` where nobody can say. */
  addressesOf(host: string): Promise<string[]>;
}
