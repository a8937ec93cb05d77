import type { Decides, Failable, GoesOn, PlannedNode, PlannedTask, Way } from "../lower/plan.ts";
import type { CountedWay } from "./longest-way.ts";

/** Events that a state adds to a history (AWS Step Functions, GetExecutionHistory); a caught failure adds as many. */
export const stateEvents = {
  /** Entered, scheduled, started, succeeded, exited. */
  task: 5,
  /** One more: submitted. */
  tokenTask: 6,
  pass: 2,
  choice: 2,
  wait: 2,
  fail: 1,
  /** Entered, started, succeeded, exited; what is inside comes on top. */
  parallel: 4,
  map: 4,
  /** Of a Map whose items are executions of their own: started, succeeded. */
  mapRun: 2,
  /** Started, succeeded. */
  iteration: 2,
  /** The execution's own start and end. */
  execution: 2,
} as const;

/** Step Functions ends an execution that has so many events. */
export const historyLimit = 25_000;

const { task, tokenTask, choice, wait, fail, pass } = stateEvents;

/** What asking the chain costs, and the Choice behind it. */
export const settle = task + choice;

/** A task whose answer Step Functions was not told: the timeout finds it in the chain. */
const asked = tokenTask + settle;

/** One that failed is asked for once more: scheduled, started, failed. */
const againInVain = 3;

/** What makes a child, the child's own run (its events are its own), and what reads its end. */
const child = task + tokenTask + againInVain + task;

const closing = task + fail;

/** A frame may end in a state of its own. */
const exit = pass;

/** Where failures without `onError` lead: on the main line to the close, in a branch to its end. */
export type FrameKind = "main" | "inner";

/** The ways out of a node; `inside` are the events of what it fans out to or does for each item. */
export function waysOf(node: PlannedNode, frame: FrameKind, inside: number): CountedWay[] {
  switch (node.type) {
    case "start":
      return [{ events: pass + inside, to: node.next }];
    case "end":
      return [{ events: task + closing, to: null }];
    case "action":
      return [goesOn(node, ran(node) + inside), ...failure(node, ran(node), frame)];
    case "decision":
      return [...decides(node, ran(node) + choice), ...failure(node, ran(node), frame)];
    case "approval":
      return [...decides(node, asked), ...expired(node, frame)];
    case "wait":
      if (node.timeoutSeconds !== undefined) return [goesOn(node, asked + inside), ...expired(node, frame)];
      return [goesOn(node, task + wait + task + inside), ...failure(node, task + wait + task, frame)];
    case "workflow":
      return [goesOn(node, child + inside), ...failure(node, child, frame)];
    case "map":
      return [goesOn(node, task + inside), ...failure(node, task + inside, frame)];
  }
}

/** The task of code with its retries; code that outlives a Lambda is looked after several times. */
function ran({ looks, retry }: PlannedTask): number {
  if (looks !== undefined) return looks * (task + choice + wait) + task + choice;
  return task + ((retry?.attempts ?? 1) - 1) * againInVain;
}

function goesOn({ next }: GoesOn, events: number): CountedWay {
  return { events: events + exitOf(next), to: next };
}

/** What fits no edge ends like a failure. */
function decides({ branches, otherwise }: Decides, events: number): CountedWay[] {
  const ways = [...branches, ...(otherwise === undefined ? [] : [{ target: otherwise, max: undefined }])];
  const counted = ways.map(({ target: to, max }): CountedWay => {
    const way = { events: events + exitOf(to), to };
    return max === undefined ? way : { ...way, max };
  });
  return [...counted, { events: events + closing, to: null }];
}

/** A node that failed: settled where the frame or its `onError` asks for it, else closed. */
function failure({ onError }: Failable, events: number, frame: FrameKind): CountedWay[] {
  if (onError !== undefined) return [{ events: events + settle + exitOf(onError), to: onError }];
  return [{ events: events + (frame === "main" ? closing : settle + exit), to: null }];
}

/** Nobody answered in time: the chain is asked on the main line too. */
function expired({ onError }: Failable, frame: FrameKind): CountedWay[] {
  if (onError !== undefined) return [{ events: asked + exitOf(onError), to: onError }];
  return [{ events: asked + (frame === "main" ? closing : exit), to: null }];
}

export function exitOf(way: Way): number {
  return way === null ? exit : 0;
}
