import { defined, onErrorOf, type RunErrorClass } from "@nova/workflow";
import type { ChildTip, Edited, FailureRecord, Head, ReusedEntry } from "../chain/entry.ts";
import type { Changes } from "../context/context.ts";
import type { ContentName, Turn } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { type Loops, type NodeDefinition, nextNodeId, type Reason } from "./definition.ts";

export interface OutcomeFacts {
  logs: string;
  executionTimeMs: number;
  run: RunFacts;
  more?: MoreFacts;
}

/** The outcome of a node before it is committed. An expected failure is a value, not a throw. */
export type Outcome = SuccessOutcome | FailedOutcome;

export type SuccessOutcome = OutcomeFacts & {
  status: "success";
  changes: Changes;
  decision: string | null;
  next: string | null;
};

export type FailedOutcome = OutcomeFacts & {
  status: "failed";
  class: RunErrorClass;
  failure: FailureRecord;
  next: string | null;
  /** Only for an exception: names of its class and its base classes, which `retry` of the node compares. */
  types?: readonly string[];
  /** Only for an exception with an HTTP response: its status. */
  httpStatus?: number;
  /** Only for an exception with an HTTP response: the text of the header `Retry-After`, unchanged. */
  retryAfter?: string;
};

export type RecordedOutcome = { decision: string | null; more: MoreFacts } & (
  | { changes: Changes }
  | { class: RunErrorClass; failure: FailureRecord }
);

export interface MoreFacts {
  /** Only for a join: the number of code runs (`nodes`) and entries (`inner`) in its branches. */
  nodes?: number;
  inner?: number;
  /** Only for a join: the number of branches that had started, and the number of their events in the history. */
  inside?: { branches: number; events: number };
  /**
   * Only for a decision that leads back: how often each loop edge was taken, including this time. Any other entry keeps
   * the counts of the entry before.
   */
  loops?: Loops;
  reused?: ReusedEntry;
  edited?: Edited;
  /** Only for a join: the counts of visits after its branches. */
  visits?: Head["visits"];
  child?: ChildTip;
  count?: number;
  /** Only for an agent whose model requested calls, or has to answer again: the first node of each call. */
  calls?: readonly string[];
  /** Only for a prompt or text node: hashes of its steps, in order. */
  steps?: string[];
  generation?: string;
  cacheHit?: boolean;
  /** Only for a text node: SHA-256 of the question to its model. */
  asked?: string;
  /** SHA-256 of the analysis code that ran before pinned code. */
  analysis?: string;
  /** The cost of the models that worked for this entry alone. */
  spent?: Spending;
  contents?: Partial<Record<ContentName, string>>;
}

/** The facts about the run of a node. Without `spare`, the spare sandboxes of the scope are the same as before. */
export interface RunFacts extends Pick<Turn, "attempt" | "spare" | "addresses" | "failedDeliveries" | "times"> {
  sandboxId: string | null;
  warm: Sandbox | null;
  code: string | null;
}

/**
 * The facts of a node that runs no code. The time of the node is the time for which its turn was held. Without
 * `before`, the scope keeps no sandbox.
 */
export function factsWithoutCode(ports: Ports, turn: Turn | undefined, before?: Pick<Head, "warm">): OutcomeFacts {
  const sandboxes = before ? { warm: before.warm } : { warm: null, spare: [] };
  const run = { attempt: turn?.attempt ?? 1, sandboxId: null, ...sandboxes, code: null };
  return { logs: "", executionTimeMs: turn ? heldMs(ports, turn) : 0, run };
}

/**
 * Returns for how many milliseconds a turn has been held; at least 0, because the clocks of two machines may differ.
 */
export function heldMs({ clock }: Ports, { since }: Turn): number {
  return Math.max(0, clock.now() - Date.parse(since));
}

export function buildSuccess(next: string | null, facts: OutcomeFacts, set: Changes["set"] = []): SuccessOutcome {
  return { ...facts, status: "success", changes: { set, delete: [] }, decision: null, next };
}

type Cause = Reason & Pick<FailureRecord, "traceback"> & Pick<FailedOutcome, "types" | "httpStatus" | "retryAfter">;

/**
 * Builds the outcome of a node that fails. If `cause` is a text, it is the message of a `NodeFailed`. The run continues
 * at the `onError` of the node.
 */
export function buildFailure(
  { version, node }: Pick<NodeDefinition, "version" | "node">,
  cause: Cause | string,
  facts: OutcomeFacts,
): FailedOutcome {
  const reason: Cause = typeof cause === "string" ? { class: "NodeFailed", message: cause } : cause;
  const { class: name, message, traceback, types, httpStatus, retryAfter } = reason;
  const next = nextNodeId(version, onErrorOf(node));
  const failure = defined({ message, traceback });
  return { ...facts, status: "failed", class: name, failure, next, ...defined({ types, httpStatus, retryAfter }) };
}
