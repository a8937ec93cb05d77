import type { Decides, Failable, HasNext, PlannedNode, PlannedTask, Target } from "../lower/plan.ts";
import type { CountedEdge } from "./longest-path.ts";

/**
 * Events that a state adds to a history (AWS Step Functions, GetExecutionHistory). A caught failure adds the same
 * number.
 */
export const stateEvents = {
  /** Entered, scheduled, started, succeeded, exited. */
  task: 5,
  /** One more: submitted. */
  tokenTask: 6,
  pass: 2,
  choice: 2,
  wait: 2,
  fail: 1,
  /** Entered, started, succeeded, exited; the inner events come in addition. */
  parallel: 4,
  map: 4,
  /** For a Map whose items are executions of their own: started, succeeded. */
  mapRun: 2,
  /** Started, succeeded. */
  iteration: 2,
  /** The start and end of the execution. */
  execution: 2,
} as const;

/** Step Functions ends an execution with this number of events. */
export const historyLimit = 25_000;

const { task, tokenTask, choice, wait, fail, pass } = stateEvents;

/** Reading the outcome from the chain, and the Choice after it. */
export const settle = task + choice;

/** A task without an answer for Step Functions: the timeout finds the answer in the chain. */
const pendingEvents = tokenTask + settle;

/** Another try of a failed task: scheduled, started, failed. */
const failedRetryEvents = 3;

/**
 * The task that creates the child, the wait for the child (whose events are its own), and the task that reads its end.
 */
const childEvents = task + tokenTask + failedRetryEvents + task;

const closing = task + fail;

/** A frame may end in a state of its own. */
const exit = pass;

/** The target of failures without `onError`: the close on the main line, the end of the branch otherwise. */
export type FrameKind = "main" | "inner";

/** Returns the edges of a node with their events. `inside` are the events of its branches or items. */
export function countedEdges(node: PlannedNode, frame: FrameKind, inside: number): CountedEdge[] {
  switch (node.type) {
    case "start":
      return [{ events: pass + inside, to: node.next }];
    case "end":
      return [{ events: task + closing, to: null }];
    case "action":
      return [nextEdge(node, taskEvents(node) + inside), ...failureEdges(node, taskEvents(node), frame)];
    case "decision":
      return [...decisionEdges(node, taskEvents(node) + choice), ...failureEdges(node, taskEvents(node), frame)];
    case "approval":
      return [...decisionEdges(node, pendingEvents), ...timeoutEdges(node, frame)];
    case "wait":
      if (node.timeoutSeconds !== undefined)
        return [nextEdge(node, pendingEvents + inside), ...timeoutEdges(node, frame)];
      return [nextEdge(node, task + wait + task + inside), ...failureEdges(node, task + wait + task, frame)];
    case "workflow":
      return [nextEdge(node, childEvents + inside), ...failureEdges(node, childEvents, frame)];
    case "map":
      return [nextEdge(node, task + inside), ...failureEdges(node, task + inside, frame)];
  }
}

/** Events of a task with its retries. Code that outlives a Lambda is checked several times. */
function taskEvents({ looks, retry }: PlannedTask): number {
  if (looks !== undefined) return looks * (task + choice + wait) + task + choice;
  return task + ((retry?.attempts ?? 1) - 1) * failedRetryEvents;
}

function nextEdge({ next }: HasNext, events: number): CountedEdge {
  return { events: events + exitEvents(next), to: next };
}

/** A decision without an edge ends like a failure. */
function decisionEdges({ branches, otherwise }: Decides, events: number): CountedEdge[] {
  const ways = [...branches, ...(otherwise === undefined ? [] : [{ target: otherwise, max: undefined }])];
  const counted = ways.map(({ target: to, max }): CountedEdge => {
    const way = { events: events + exitEvents(to), to };
    return max === undefined ? way : { ...way, max };
  });
  return [...counted, { events: events + closing, to: null }];
}

/** The edge of a failed node: it settles if the frame or its `onError` requires that, or else closes the run. */
function failureEdges({ onError }: Failable, events: number, frame: FrameKind): CountedEdge[] {
  if (onError !== undefined) return [{ events: events + settle + exitEvents(onError), to: onError }];
  return [{ events: events + (frame === "main" ? closing : settle + exit), to: null }];
}

/** The edge of a timeout. The chain is read on the main line as well. */
function timeoutEdges({ onError }: Failable, frame: FrameKind): CountedEdge[] {
  if (onError !== undefined) return [{ events: pendingEvents + exitEvents(onError), to: onError }];
  return [{ events: pendingEvents + (frame === "main" ? closing : exit), to: null }];
}

export function exitEvents(way: Target): number {
  return way === null ? exit : 0;
}
