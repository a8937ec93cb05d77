import type { NodeType, RunErrorClass } from "@nova/workflow";
import type { BlobHome } from "../ports/blobs.ts";
import type { ContentName, LinkId, StoredEntry } from "../ports/chain.ts";
import type { ExecutionStatus, Parent, Spending } from "../ports/executions.ts";
import type { Sandbox } from "../ports/sandboxes.ts";

/** The hashed part of an entry, format 1. Personal data has only its digest here, so that it can be erased. */
export interface Head extends BlobHome {
  format: 1;
  execution_id: string;
  scope: string;
  seq: number;
  workflow_id: string;
  workflow_version: number;
  node_id: string;
  node_type: NodeType | "join" | "close";
  status: "success" | "failed";
  error_class?: RunErrorClass;
  attempt: number;
  decision_result: string | null;
  /** The node that comes next: the edge taken; `<fork>.join` behind a fork, null at the end of a map's item. */
  path_taken: string | null;
  /** ISO 8601: when the outcome was known. */
  timestamp: string;
  execution_time_ms: number;
  sandbox_id: string | null;
  /** What the scope's next node may use again. */
  warm: Sandbox | null;
  /** Further sandboxes of the scope; branches that begin behind it share them. Absent: none. */
  spare?: Sandbox[];
  /** SHA-256 of the code that ran, null where none did; of a prompt node, of the last that was written. */
  code: string | null;
  /** What names led to that the code could connect to on other ports than 80 and 443; absent: there were none. */
  addresses?: Readonly<Record<string, readonly string[]>>;
  /** Deliveries that came to nothing before its first attempt began; absent: none, or an earlier release wrote it. */
  failed_deliveries?: number;
  /** Of a prompt node: the key of the generation that its code is. */
  generation?: string;
  /** Of a prompt node whose pinned code did it: no model was asked. */
  cache_hit?: true;
  /** Of such a one: SHA-256 of the analysis code that ran before. */
  analysis?: string;
  /** Of a text node: SHA-256 of all that its model was asked, settings included. */
  asked?: string;
  /** Runs of code so far in this scope, and in the branches that were joined in it. */
  nodes: number;
  /** What models have cost so far: in this scope, branches joined in it, executions run by it. Absent: nothing. */
  spent?: Spending;
  /** Only pinned code may run in this execution. Link 0 says so, and every other one after it. */
  frozen?: true;
  /**
   * Only nodes without effects run, without network and credentials; any other one that has no outcome on record fails.
   * Carried like `frozen`.
   */
  sealed?: true;
  /** Prompt nodes for which code of earlier executions does not count; carried like `frozen`. Absent: none. */
  fresh?: readonly string[];
  /** Entries in the branches that were joined in this scope so far; absent: none. */
  inner?: number;
  /** How often edges with a `max` were taken since their loops were entered, by `<from>-><label>`; absent: never. */
  loops?: Readonly<Record<string, number>>;
  /** Events that the history of its Step Functions execution has at most, of this scope; absent: nobody counts them. */
  events?: number;
  /**
   * Of the main line: the further execution of the state machine that it goes on in, and the link whose node led to it;
   * absent: the first one.
   */
  continuation?: { number: number; seq: number };
  /** Of a map's entry: how many items it has. */
  count?: number;
  /** Of link 0 where a node of another execution runs this one. */
  parent?: Parent;
  /** Of link 0: the trigger of its workflow that started it; absent: whoever asked for it, or an earlier release wrote it. */
  trigger?: string;
  /** Of link 0: the ARN of the state machine version that runs it. Absent in what earlier releases wrote. */
  machine?: string;
  /** Of link 0: `runHash` of the definition. Absent in what earlier releases wrote. */
  definition?: string;
  /** Of a workflow node's entry: the execution that it ran. */
  child?: ChildTip;
  /**
   * Link 0 of a restart, and of an execution that a node runs, names the first run of all restarts, and what the places of
   * this execution begin with there. Absent: this execution itself.
   */
  origin?: Origin;
  /** Of link 0: the outcomes that this execution reuses. */
  plan?: Plan;
  /** The entry of an earlier execution that has the same outcome. Nothing ran for this one. */
  reused_from?: ReusedLink;
  /** Of an outcome that somebody has written by hand. Nothing ran for it here. */
  edited?: Edited;
  /** How often nodes of loops have come up so far, as names of places count. Absent: none has, and there is no plan. */
  visits?: Readonly<Record<string, number>>;
  /** Hash of the link before; null at link 0. */
  prev: string | null;
  /** SHA-256 of each content's text. */
  digests: Partial<Record<ContentName, string>>;
  /** Hashes of the steps that belong to this entry, in order. */
  steps: string[];
  /** Of the close entry only. `count` is the number of entries of the execution, this one included. */
  close?: {
    status: CloseStatus;
    count: number;
    /** Of a run that has not completed: the node that its error names. */
    node?: string;
    /** Ids of sandboxes of pools that were alive: one of them may serve another execution. Absent: none. */
    idle?: string[];
  };
}

/** `place`: `billing/` inside the execution that the node `billing` runs; empty in the first run itself. */
export interface Origin {
  execution: string;
  place: string;
}

export type CloseStatus = Extract<ExecutionStatus, "completed" | "failed" | "cancelled" | "interrupted">;

/** What a head says whose entry tells of no run: of link 0, and of a close. */
export const noRun = {
  ...{ attempt: 1, decision_result: null, execution_time_ms: 0, sandbox_id: null, warm: null, code: null },
  steps: [] as string[],
};

/** The execution that this one is a restart of, by its plan. */
export function sourceOf({ plan }: Head): string | undefined {
  return plan?.after;
}

export function headOf(entry: StoredEntry): Head {
  return JSON.parse(entry.head) as Head;
}

/** An execution that a node ran, by the hash of its close entry. */
export interface ChildTip {
  execution: string;
  workflow: string;
  version: number;
  tip: string;
}

/** The document of outcomes that this execution reuses. A node whose place has none in the document runs. */
export interface Plan {
  /** SHA-256 of the document (`outcomes.ts`), a blob of this execution. */
  outcomes: string;
  /** The start of the places of this execution in the document, such as `billing/`: a node of another execution runs it. */
  within?: string;
  /** The execution of the same family that it comes after: if contents of that are erased, those of this one are, too. */
  after?: string;
  /** Hash of the last entry of `after`, if the document refers to entries of that. */
  tip?: string;
  /** The places from which on everything runs again. */
  from?: string[];
  /** Nodes that run again wherever they come up. */
  again?: string[];
  /** Keys of the initial context that have other values than in `after`, and who patched them. */
  patch?: { keys: string[]; by: string };
}

/** Who wrote an outcome, and when (ISO 8601). */
export interface Edited {
  by: string;
  at: string;
}

export interface ReusedLink extends LinkId {
  hash: string;
}

/** The last entry of a branch: a join's `branches` content is a list of them. */
export type BranchTip = Omit<ReusedLink, "execution">;

/** `error` content of a failed entry. */
export interface FailureRecord {
  message: string;
  /** Of a join: the node that failed, and in which branch; `message` says both. */
  node?: string;
  within?: string;
  /** Of a join: the message of that node itself. */
  reason?: string;
  traceback?: string;
}
