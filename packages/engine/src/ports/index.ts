import type { Endings, InFlight, TailCache, WarmPool } from "../process-memory.ts";
import type { BlobStore } from "./blobs.ts";
import type { ChainStore } from "./chain.ts";
import type { Credentials } from "./credentials.ts";
import type { ExecutionStore, OnExecutionEnded, StateMachines } from "./executions.ts";
import type { Budgets, GenerationStore, Pipeline, WorkflowStore } from "./pipeline.ts";
import type { Roots } from "./roots.ts";
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

/**
 * Computes an HMAC that only NOVA can check. The key is in KMS in the cloud, and in a file on a laptop. The same text
 * always has the same signature.
 */
export interface Signer {
  sign(text: string): Promise<string>;
  verify(text: string, signature: string): Promise<boolean>;
}

/** A public key as a JWK (RFC 7517). `nbf` and `exp` are the seconds since 1970 between which the key signs. */
export interface PublicKey {
  kty: "EC";
  crv: "P-256";
  x: string;
  y: string;
  use: "sig";
  alg: "ES256";
  /** The thumbprint of the key (RFC 7638). */
  kid: string;
  nbf: number;
  /** Absent: the key is in use. */
  exp?: number;
}

/**
 * Signs texts so that everyone can check them with a public key. The private key is in KMS in the cloud, and in a file
 * on a laptop. `docs/proof.md` lists the texts. A signature is `<kid>.<base64url of r and s>`.
 */
export interface KeyPair {
  sign(text: string): Promise<string>;
  /**
   * `at` is the time of the signature in ISO 8601, which must lie in the period of the key. Absent: the signature has
   * no time.
   */
  verify(text: string, signature: string, at?: string): Promise<boolean>;
  /** Returns every key that was ever used, the oldest first. */
  publicKeys(): Promise<PublicKey[]>;
  /** Adds and returns a key, which signs all later texts. Absent: the operator adds a key with a deployment. */
  rotate?(): Promise<PublicKey>;
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
  /**
   * Returns the URL of the page on which the owner of the token votes; undefined if NOVA does not know the address of
   * this page. The token is in the fragment, which browsers send to no server.
   */
  toVote(task: Pick<WaitingTask, "id">, token: string): string | undefined;
  /** Returns the URL for a path of the API; undefined if NOVA does not know the address of its API. */
  toApi(path: string): string | undefined;
  /**
   * Returns the URL at which one `POST` ends a wait. Throws `NodeFailed` if NOVA does not know the address of its API.
   */
  toResume(id: string, token: string): string;
}

/** Counts new sandboxes and sandboxes taken over, for the metrics on a dashboard. */
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
  keyPair: KeyPair;
  roots: Roots;
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
