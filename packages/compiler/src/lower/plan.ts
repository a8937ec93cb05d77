/**
 * What lowering makes of a workflow: every node with its ways out resolved, in the workflow's order. Nothing in here
 * needs the edge list any more, and nothing knows the Amazon States Language.
 */
export interface Plan {
  comment: string;
  startAt: string;
  timeoutSeconds?: number;
  nodes: PlannedNode[];
}

export type PlannedNode = PlannedStart | PlannedAction | PlannedDecision | PlannedEnd;

interface Planned {
  id: string;
  comment?: string;
}

export interface PlannedStart extends Planned {
  type: "start";
  next: string;
}

export interface PlannedAction extends Planned {
  type: "action";
  next: string;
  onError?: string;
}

export interface PlannedDecision extends Planned {
  type: "decision";
  /** Never the default edge. */
  branches: Branch[];
  /** Target of the edge `"default"`. */
  otherwise?: string;
  onError?: string;
}

export interface PlannedEnd extends Planned {
  type: "end";
}

export interface Branch {
  /** What the engine answers as `decision` to take this branch. */
  label: string;
  target: string;
}
