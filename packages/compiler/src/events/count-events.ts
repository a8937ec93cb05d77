import { lastToFirst, maxCallsAtOnce } from "@nova/workflow";
import {
  type Decides,
  type Failable,
  type HasNext,
  loopTargets,
  type Plan,
  type PlannedAgent,
  type PlannedFork,
  type PlannedFrame,
  type PlannedMap,
  type PlannedNode,
  type PlannedTask,
  type Target,
} from "../lower.ts";

/**
 * The number of events that each kind of state adds to a history (AWS, GetExecutionHistory). The number is the same for
 * a success and for a failure that a Catch handles.
 */
export const stateEvents = {
  /** The events: entered, scheduled, started, succeeded, exited. */
  task: 5,
  /** The events of a task, and one more event: submitted. */
  tokenTask: 6,
  pass: 2,
  choice: 2,
  wait: 2,
  fail: 1,
  /** The events: entered, started, succeeded, exited. The events of the branches are not included. */
  parallel: 4,
  map: 4,
  /** Two events in addition to `map`, for a Map whose items run in separate executions: started and succeeded. */
  mapRun: 2,
  /** Two events for each item: started and succeeded. */
  iteration: 2,
  /** The start and end of the execution. */
  execution: 2,
} as const;

/** The number of events at which Step Functions ends an execution. */
export const historyLimit = 25_000;

const { execution, parallel, map, mapRun, iteration, pass, task, tokenTask, choice, wait, fail } = stateEvents;

/** Returns the number of items of a map whose events are in the history of the execution itself. */
export type ItemsOf = (map: PlannedMap) => number;

/**
 * Counts the events of an execution for the decisions and failures that add the largest number of events. Includes the
 * retries that a node asks for, but no retries after the death of a Lambda.
 */
export function countEvents(plan: Plan, itemsOf: ItemsOf): number {
  return execution + frameEvents(plan.main, "main", itemsOf);
}

/**
 * Returns the largest number of events that an execution adds before it reaches a loop edge of the main line, or the
 * end of the main line. At a loop edge, the run may continue in a further execution.
 */
export function stretchEvents(plan: Plan, itemsOf: ItemsOf): number {
  const waysOn = new Map(
    plan.main.nodes.map((node) => {
      // One answer of the model may request all calls that the agent may still make.
      const calls = node.type === "agent" ? Math.min(node.maxSteps, maxCallsAtOnce) : 1;
      const ways = countedEdges(node, "main", insideOf(node, itemsOf, calls));
      return [node, ways.map(({ events, to, max }) => ({ events, to: max ? null : to }))];
    }),
  );
  const begins = [plan.main.entry, ...loopTargets(plan.main)];
  const longest = begins.map((entry) => longestPath({ ...plan.main, entry }, (node) => waysOn.get(node) ?? []));
  return startEvents(plan) + Math.max(...longest);
}

/** Counts the events at the start and end of every execution, if the plan's loops continue in further executions. */
export function startEvents({ main }: Plan): number {
  return execution + choice + (main.nodes.some(({ type }) => type === "start") ? pass : 0);
}

/** Returns the largest number of events that one item of a map may add. */
export function itemEvents(node: PlannedMap, itemsOf: ItemsOf): number {
  return iteration + pass + frameEvents(node.body, "inner", itemsOf);
}

function frameEvents(frame: PlannedFrame, kind: FrameKind, itemsOf: ItemsOf): number {
  return longestPath(frame, (node) => countedEdges(node, kind, insideOf(node, itemsOf)));
}

const join = task + choice;

function insideOf(node: PlannedNode, itemsOf: ItemsOf, calls = 1): number {
  const forked = "fork" in node && node.fork ? forkEvents(node.fork, itemsOf) : 0;
  if (node.type === "agent") return map + calls * callEvents(node, itemsOf) + join;
  if (node.type !== "map") return forked;
  return choice + map + mapRun + itemsOf(node) * itemEvents(node, itemsOf) + join + forked;
}

/**
 * Returns the number of events of one call of an agent, for the tool with the most events. In all rounds together, an
 * agent makes at most as many calls as it has steps, so NOVA counts one call for each round.
 */
export function callEvents({ tools }: PlannedAgent, itemsOf: ItemsOf): number {
  return iteration + choice + pass + Math.max(0, ...tools.map((tool) => frameEvents(tool, "inner", itemsOf)));
}

function forkEvents({ branches }: PlannedFork, itemsOf: ItemsOf): number {
  const each = branches.map((branch) => pass + frameEvents(branch, "inner", itemsOf));
  return parallel + each.reduce((sum, events) => sum + events, 0) + join;
}

/**
 * An edge of a node, with the number of events that a run adds at the node if the run takes this edge. `to` is null at
 * the end of a branch or of the body of a map.
 */
interface CountedEdge {
  events: number;
  to: Target;
  /** Present if the edge leads back: the largest number of times that a run takes this edge. */
  max?: number;
}

type Ways = ReadonlyMap<string, CountedEdge[]>;

/** The virtual node at the end of all paths. No node can have this id. */
const frameEnd = "(end)";

/**
 * Returns the largest number of events on a path through the main line, a branch or the body of a map. A cycle through
 * `onError` has no `max`, so this function counts it once.
 */
function longestPath({ entry, nodes }: PlannedFrame, waysOf: (node: PlannedNode) => CountedEdge[]): number {
  const all = nodes.map((node): [string, CountedEdge[]] => [node.id, waysOf(node)]);
  const onward = new Map(all.map(([id, ways]) => [id, ways.filter(({ max }) => max === undefined)]));
  const loops = new Map(
    all.flatMap(([id, ways]): [string, CountedEdge[]][] => {
      const back = ways.filter(({ max }) => max !== undefined);
      return back.length > 0 ? [[id, back]] : [];
    }),
  );
  if (loops.size === 0) return longestTo(frameEnd, onward, [entry]).get(entry) ?? 0;
  return withLoops(entry, onward, loops);
}

/**
 * Returns the largest number of events on a path that takes loop edges. Such a path consists of parts without loop
 * edges. Each part except the last one ends with the loop edge of a decision. This function adds the decisions one by
 * one, as in the Floyd-Warshall algorithm. One round of a loop may contain all rounds of the loops that were added
 * before.
 */
function withLoops(entry: string, onward: Ways, loops: ReadonlyMap<string, CountedEdge[]>): number {
  const begins = [...new Set([entry, ...[...loops.values()].flatMap((ways) => ways.map(({ to }) => String(to)))])];
  const deciding = lastToFirst(begins, (id) => nextOf(id, onward))
    .reverse()
    .filter((id) => loops.has(id));
  const longest = new Map([...deciding, frameEnd].map((to) => [to, longestTo(to, onward, begins)]));
  const between = (from: Target, to: string) => longest.get(to)?.get(String(from));
  for (const decision of deciding) {
    const back = loops.get(decision) ?? [];
    const ways = back.map((way) => ({ ...way, round: way.events + (between(way.to, decision) ?? 0) }));
    const rounds = ways.reduce((sum, { round, max = 0 }) => sum + round * max, 0);
    const improved = [...longest].map(([to, known]): [string, Map<string, number>] => {
      const last = ways.flatMap((way) =>
        (between(way.to, to) ?? -1) < 0 ? [] : way.events + (between(way.to, to) as number) - way.round,
      );
      const longer = begins.flatMap((from): [string, number][] => {
        const arrived = between(from, decision);
        if (arrived === undefined || last.length === 0) return [];
        return [[from, Math.max(known.get(from) ?? 0, arrived + rounds + Math.max(...last))]];
      });
      return [to, new Map([...known, ...longer])];
    });
    for (const [to, known] of improved) longest.set(to, known);
  }
  return between(entry, frameEnd) ?? 0;
}

/**
 * Maps each node of `begins` to the largest number of events on a path without loop edges to `target`. Leaves out nodes
 * without such a path.
 */
function longestTo(target: string, onward: Ways, begins: readonly string[]): Map<string, number> {
  const known = new Map([[target, 0]]);
  const eventsTo = (to: Target) => {
    if (to !== null && onward.has(to)) return known.get(to);
    return target === frameEnd ? 0 : undefined;
  };
  for (const id of lastToFirst(begins, (one) => (one === target ? [] : nextOf(one, onward)))) {
    if (id === target) continue;
    const sums = (onward.get(id) ?? []).flatMap(({ events, to }) => {
      const after = eventsTo(to);
      return after === undefined ? [] : [events + after];
    });
    if (sums.length > 0) known.set(id, Math.max(...sums));
  }
  return new Map(begins.flatMap((id): [string, number][] => (known.has(id) ? [[id, known.get(id) as number]] : [])));
}

function nextOf(id: string, onward: Ways): string[] {
  return (onward.get(id) ?? []).flatMap(({ to }) => (to !== null && onward.has(to) ? [to] : []));
}

/**
 * The number of events of a settle: those of the task that reads the outcome from the chain, and those of the Choice
 * after this task.
 */
export const settle = task + choice;

/**
 * The largest number of events of a task that waits for an answer. This is the case in which Step Functions misses the
 * answer: the task times out, and then a settle finds the answer in the chain.
 */
const pendingEvents = tokenTask + settle;

/** The number of events of each further try of a failed task: scheduled, started, failed. */
const failedRetryEvents = 3;

/**
 * The number of events of a workflow node. It has three tasks, which name the child, wait for the child, and read how
 * the child ended. The child has a separate history.
 */
const childEvents = task + tokenTask + failedRetryEvents + task;

const closing = task + fail;

/** The number of events of the Pass state in which a branch or an item may end. */
const exit = pass;

/**
 * The place to which a failure without `onError` leads. On the main line ("main"), this is the close of the run. In a
 * branch or an item ("inner"), it is the end of the branch or item.
 */
export type FrameKind = "main" | "inner";

/**
 * Returns the edges of a node, each with the number of events of the node up to that edge. `inside` is the number of
 * events of the node's branches or items.
 */
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
    case "agent": {
      const asked = taskEvents(node) + choice;
      const back = { events: asked + inside, to: node.id, max: node.maxSteps };
      return [nextEdge(node, asked), back, ...failureEdges(node, asked + inside, frame)];
    }
  }
}

/** Counts the events of a task with its retries, and with the repeated checks of code that outlives a Lambda. */
function taskEvents({ looks, retry }: PlannedTask): number {
  if (looks !== undefined) return looks * (task + choice + wait) + task + choice;
  return task + ((retry?.attempts ?? 1) - 1) * failedRetryEvents;
}

function nextEdge({ next }: HasNext, events: number): CountedEdge {
  return { events: events + exitEvents(next), to: next };
}

/** Returns the edges of a decision, and also the edge to the close of the run for the case that no edge matches. */
function decisionEdges({ branches, otherwise }: Decides, events: number): CountedEdge[] {
  const ways = [...branches, ...(otherwise === undefined ? [] : [{ target: otherwise, max: undefined }])];
  const counted = ways.map(({ target: to, max }): CountedEdge => {
    const way = { events: events + exitEvents(to), to };
    return max === undefined ? way : { ...way, max };
  });
  return [...counted, { events: events + closing, to: null }];
}

/**
 * Returns the edge after a failure. If the node has an `onError`, or is in a branch or an item, a settle comes first.
 * Any other failure closes the run.
 */
function failureEdges({ onError }: Failable, events: number, frame: FrameKind): CountedEdge[] {
  if (onError !== undefined) return [{ events: events + settle + exitEvents(onError), to: onError }];
  return [{ events: events + (frame === "main" ? closing : settle + exit), to: null }];
}

/** Returns the edge after a timeout. Even on the main line, a settle first looks for an answer in the chain. */
function timeoutEdges({ onError }: Failable, frame: FrameKind): CountedEdge[] {
  if (onError !== undefined) return [{ events: pendingEvents + exitEvents(onError), to: onError }];
  return [{ events: pendingEvents + (frame === "main" ? closing : exit), to: null }];
}

export function exitEvents(way: Target): number {
  return way === null ? exit : 0;
}
