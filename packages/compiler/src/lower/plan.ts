import type { Retry } from "@nova/workflow";

/** A workflow with every way out of its nodes resolved. Nothing in here knows the Amazon States Language. */
export interface Plan {
  comment: string;
  timeoutSeconds?: number;
  main: PlannedFrame;
}

/** Nodes that one another's ways lead to: the main line, a branch of a fork, or the body of a map. */
export interface PlannedFrame {
  entry: string;
  nodes: PlannedNode[];
}

export type PlannedNode =
  | PlannedStart
  | PlannedAction
  | PlannedDecision
  | PlannedMap
  | PlannedApproval
  | PlannedWait
  | PlannedWorkflow
  | PlannedEnd;

/** A node of the same frame; null where the frame is done. The main line is done only by its end nodes. */
export type Way = string | null;

interface Planned {
  id: string;
  comment?: string;
}

/** Of nodes that go on in one way, or in all of several at once. */
export interface GoesOn extends Planned {
  /** What follows; where the node fans out, what follows the join. */
  next: Way;
  fork?: PlannedFork;
}

export interface PlannedFork {
  /** As the chain of work names it: the fanning-out node, or the join of a map. */
  node: string;
  branches: PlannedFrame[];
}

export interface Failable {
  onError?: Way;
}

/** Of nodes whose entry holds a decision. */
export interface Decides extends Planned, Failable {
  /** Never the default edge. */
  branches: Branch[];
  /** Target of the edge `"default"`. */
  otherwise?: Way;
}

export interface Branch {
  /** What the engine answers as `decision` to take this branch. */
  label: string;
  target: Way;
  /** It leads back to a node of the same frame; the engine decides otherwise when it was taken so often. */
  max?: number;
}

export interface PlannedTask extends Planned {
  /** Of code that may outlive a Lambda: how often it is looked after, or waited for, at most. */
  looks?: number;
  retry?: Retry;
}

export type PlannedStart = GoesOn & { type: "start" };
export type PlannedAction = PlannedTask & GoesOn & Failable & { type: "action" };
export type PlannedDecision = PlannedTask & Decides & { type: "decision" };
export type PlannedApproval = Decides & { type: "approval"; timeoutSeconds: number };
/** `timeoutSeconds`: of a wait for an event, how long. Absent: until a time that the engine answers. */
export type PlannedWait = GoesOn & Failable & { type: "wait"; timeoutSeconds?: number };
export type PlannedWorkflow = GoesOn & Failable & { type: "workflow" };
export type PlannedEnd = Planned & { type: "end" };

export interface PlannedMap extends GoesOn, Failable {
  type: "map";
  body: PlannedFrame;
  maxConcurrency: number;
  /** A failed item does not stop the others; the join says whether they were too many. */
  toleratesFailures: boolean;
}

/** Nodes of a frame that its loops lead back to, each once. */
export function loopTargets({ nodes }: PlannedFrame): string[] {
  const ways = nodes.flatMap((node) => ("branches" in node ? node.branches : []));
  return [...new Set(ways.flatMap(({ target, max }) => (target === null || max === undefined ? [] : [target])))];
}
