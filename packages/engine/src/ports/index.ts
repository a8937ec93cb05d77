import type { Endings, InFlight, TailCache, WarmPool } from "../process-memory.ts";
import type { BlobStore } from "./blobs.ts";
import type { ChainStore } from "./chain.ts";
import type { Credentials } from "./credentials.ts";
import type { ExecutionStore, OnExecutionEnded, StateMachines } from "./executions.ts";
import type { Budgets, Pipeline } from "./pipeline.ts";
import type { HostNames, Sandboxes } from "./sandboxes.ts";
import type { ResumeLinkStore, TaskStore, Vault, WaitingTask, WakeStore } from "./tasks.ts";
import type { GenerationStore, WorkflowStore } from "./workflows.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Ends what takes too long. */
export interface Timer {
  /** Fires after this many milliseconds, even if the clock jumps. It keeps no process alive. */
  timeout(ms: number): AbortSignal;
}

/** HMAC over a hash: KMS in the cloud, a key file on a laptop. */
export interface Signer {
  sign(text: string): Promise<string>;
  verify(text: string, signature: string): Promise<boolean>;
}

/** Execution events for the world (EventBridge). Publishing the same one twice is harmless. */
export interface EventBus {
  publish(
    type: "execution.completed" | "execution.failed" | "execution.waiting",
    detail: Record<string, unknown>,
  ): Promise<void>;
}

/** How people get to a task: an address, or the command that answers it. */
export interface Links {
  toTask(task: Pick<WaitingTask, "id" | "execution" | "node" | "choices">): string;
  /** The address of a path of the API; undefined where nobody knows it. */
  toApi(path: string): string | undefined;
  /** Where a wait goes on by one `POST`. Throws `NodeFailed` where nobody knows the API's address. */
  toResume(id: string, token: string): string;
}

/** What a dashboard counts. */
export type Meter = (what: "sandbox made" | "sandbox taken over", numbers?: { wait_ms: number }) => void;

/** The outside world of the engine, as its own code needs it; adapters live in `aws` and `sandbox`. */
export interface Ports {
  chain: ChainStore;
  executions: ExecutionStore;
  workflows: WorkflowStore;
  blobs: BlobStore;
  sandboxes: Sandboxes;
  pipeline: Pipeline;
  generations: GenerationStore;
  stateMachines: StateMachines;
  signer: Signer;
  events: EventBus;
  onExecutionEnded: OnExecutionEnded;
  budgets: Budgets;
  tasks: TaskStore;
  wakes: WakeStore;
  resumeLinks: ResumeLinkStore;
  vault: Vault;
  credentials: Credentials;
  hostNames: HostNames;
  links: Links;
  /** Absent: nobody counts. */
  meter?: Meter;
  clock: Clock;
  timer: Timer;
  /** This and the next two are made once per process, and shared in no other way. */
  warmPool: WarmPool;
  tailCache: TailCache;
  inFlight: InFlight;
  endings: Endings;
}
