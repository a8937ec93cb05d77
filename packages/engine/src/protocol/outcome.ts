import type { RunErrorClass } from "@nova/workflow";
import type { ChildTip, FailureRecord } from "../chain/head.ts";
import type { Changes } from "../context/context.ts";
import type { ContentName, Turn } from "../ports/chain.ts";
import type { Spending } from "../ports/executions.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import type { Loops } from "./loops.ts";

/** What a node came to, before it is written down. An expected failure is a value here, not a throw. */
export type Outcome = {
  logs: string;
  executionTimeMs: number;
  run: RunFacts;
  more?: MoreFacts;
} & (
  | { status: "success"; changes: Changes; decision: string | null; next: string | null }
  | {
      status: "failed";
      class: RunErrorClass;
      failure: FailureRecord;
      next: string | null;
      /** Of an exception: its class and those that it derives from, for the node's `retry`. */
      types?: readonly string[];
    }
);

export type FailedOutcome = Outcome & { status: "failed" };

/** What the entries of maps, joins, loops and prompt nodes say besides. */
export interface MoreFacts {
  /** Of a join: runs of code, and entries, in its branches. */
  nodes?: number;
  inner?: number;
  /** Of a join: how many branches had begun, and the events of their own. */
  inside?: { branches: number; events: number };
  /** Of a decision that leads back; any other entry keeps those of the nodes around it. */
  loops?: Loops;
  /** Of a workflow node: what it ran. */
  child?: ChildTip;
  /** Of a map: how many items it has. */
  count?: number;
  /** Of a prompt node: hashes of its steps, in order; any other entry lists what lies at its link. */
  steps?: string[];
  /** Key of the generation whose code it was. */
  generation?: string;
  cacheHit?: boolean;
  /** SHA-256 of the analysis code that ran before it. */
  analysis?: string;
  /** What models have cost, for this entry alone. */
  spent?: Spending;
  contents?: Partial<Record<ContentName, string>>;
}

/** Which run of code, if any, led to the outcome. */
export interface RunFacts {
  attempt: number;
  sandboxId: string | null;
  /** What the scope's next node may use again. */
  warm: Sandbox | null;
  /** SHA-256 of the code, null where no code ran. */
  code: string | null;
  /** What names led to that it could connect to. */
  addresses?: Record<string, string[]>;
  failedDeliveries?: number;
}

/** What an entry says of the turn that led to it. */
export function turnFacts({ attempt, sandbox, addresses, failedDeliveries }: Turn): Omit<RunFacts, "warm" | "code"> {
  return {
    attempt,
    sandboxId: sandbox,
    ...(addresses && { addresses }),
    ...(failedDeliveries !== undefined && { failedDeliveries }),
  };
}
