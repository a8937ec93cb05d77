import type { Endings, InFlight, TailCache, WarmPool } from "../process-memory.ts";
import type { BlobStore } from "./blobs.ts";
import type { ChainStore } from "./chain.ts";
import type { Credentials } from "./credentials.ts";
import type { ExecutionStore, OnExecutionEnded, StateMachines } from "./executions.ts";
import type { Budgets, GenerationStore, Pipeline, WorkflowStore } from "./pipeline.ts";
import type { HostNames, Sandboxes } from "./sandboxes.ts";
import type { ResumeLinkStore, TaskStore, Vault, WaitingTask, WakeStore } from "./tasks.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Creates signals that fire after a time. Tests replace it. */
export interface Timer {
  /**
   * Returns a signal that fires after `ms` milliseconds, even if the clock is set. It does not keep the process alive.
   */
  timeout(ms: number): AbortSignal;
}

/** Signs hashes with an HMAC: with KMS in the cloud, with a key file on a laptop. */
export interface Signer {
  sign(text: string): Promise<string>;
  verify(text: string, signature: string): Promise<boolean>;
}

/** Publishes execution events (EventBridge). Publishing an event twice is harmless. */
export interface EventBus {
  publish(
    type: "execution.completed" | "execution.failed" | "execution.waiting",
    detail: Record<string, unknown>,
  ): Promise<void>;
}

/** Builds URLs that NOVA gives to people and to other systems. */
export interface Links {
  toTask(task: Pick<WaitingTask, "id" | "execution" | "node" | "choices">): string;
  /** Returns the URL for a path of the API; undefined if NOVA does not know the address of its API. */
  toApi(path: string): string | undefined;
  /**
   * Returns the URL at which one `POST` ends a wait. Throws `NodeFailed` if NOVA does not know the address of its API.
   */
  toResume(id: string, token: string): string;
}

/** Counts what happened, for the metrics on a dashboard. */
export type Meter = (what: "sandbox made" | "sandbox taken over", numbers?: { wait_ms: number }) => void;

/** The outside world of the engine, as interfaces; adapters are in `aws` and `sandbox`. */
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
  meter?: Meter;
  clock: Clock;
  timer: Timer;
  /** Each process has one instance of `warmPool` and of each field below it. */
  warmPool: WarmPool;
  tailCache: TailCache;
  inFlight: InFlight;
  endings: Endings;
}
