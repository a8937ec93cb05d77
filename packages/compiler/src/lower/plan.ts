import type { Retry } from "@nova/workflow";

/** A workflow with resolved edges. It knows nothing of the Amazon States Language. */
export interface Plan {
  comment: string;
  timeoutSeconds?: number;
  main: PlannedFrame;
}

/** Connected nodes: the main line, a branch of a fork, or the body of a map. */
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

/** A node of the same frame; null if the frame ends. Only end nodes end the main line. */
export type Target = string | null;

interface Planned {
  id: string;
  comment?: string;
}

/** A node with one next node, or with a fork. */
export interface HasNext extends Planned {
  /** The next node; for a node that fans out, the node after the join. */
  next: Target;
  fork?: PlannedFork;
}

export interface PlannedFork {
  /** The name in the chain of work: the node that fans out, or the join of a map. */
  node: string;
  branches: PlannedFrame[];
}

export interface Failable {
  onError?: Target;
}

/** A node whose entry holds a decision. */
export interface Decides extends Planned, Failable {
  /** All branches except the default edge. */
  branches: Branch[];
  /** Target of the edge `"default"`. */
  otherwise?: Target;
}

export interface Branch {
  /** The engine's `decision` that takes this branch. */
  label: string;
  target: Target;
  /** The branch leads back to a node of the same frame; the engine decides otherwise after this number of rounds. */
  max?: number;
}

export interface PlannedTask extends Planned {
  /** For code that may outlive a Lambda: the largest number of checks and waits. */
  looks?: number;
  retry?: Retry;
}

export type PlannedStart = HasNext & { type: "start" };
export type PlannedAction = PlannedTask & HasNext & Failable & { type: "action" };
export type PlannedDecision = PlannedTask & Decides & { type: "decision" };
export type PlannedApproval = Decides & { type: "approval"; timeoutSeconds: number };
/** `timeoutSeconds` limits a wait for an event. Absent: a wait until a time that the engine returns. */
export type PlannedWait = HasNext & Failable & { type: "wait"; timeoutSeconds?: number };
export type PlannedWorkflow = HasNext & Failable & { type: "workflow" };
export type PlannedEnd = Planned & { type: "end" };

export interface PlannedMap extends HasNext, Failable {
  type: "map";
  body: PlannedFrame;
  maxConcurrency: number;
  /** True if a failed item does not stop the others. The join decides whether too many failed. */
  toleratesFailures: boolean;
}

/** Returns the nodes of a frame that its loops lead back to, each once. */
export function loopTargets({ nodes }: PlannedFrame): string[] {
  const ways = nodes.flatMap((node) => ("branches" in node ? node.branches : []));
  return [...new Set(ways.flatMap(({ target, max }) => (target === null || max === undefined ? [] : [target])))];
}
