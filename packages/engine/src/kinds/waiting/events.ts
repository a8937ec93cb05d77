import { type MatchableObject, matchesPattern, nodeIndex, parseExact, type Workflow } from "@nova/workflow";
import { entriesBefore } from "../../attempt/known-nodes.ts";
import { headOf } from "../../chain/entry.ts";
import { contextAfter } from "../../chain/position.ts";
import type { Ports } from "../../ports/index.ts";
import type { KeptEvent, UsedShape, WaitingTask } from "../../ports/tasks.ts";
import { definitionOf } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { handOverEvent } from "./answer.ts";
import { keysFor, matchable, shapeOf } from "./bind-pattern.ts";
import { type EventNode, isWaitingNode } from "./waiting-task.ts";

/**
 * The largest number of index keys of an event. NOVA compares an event with more keys with every waiting task instead.
 */
const maxKeys = 200;

/**
 * Gives an event (EventBridge's JSON) to every task that waits for it. Before that, it stores the event for waits that
 * start later.
 */
export async function deliverEvent(ports: Ports, text: string): Promise<WaitingTask[]> {
  const event = parseExact(text) as MatchableObject;
  const taken: WaitingTask[] = [];
  for await (const task of tasksFor(ports, event, text)) {
    if (task.kind !== "event" || !task.pattern || !matchesPattern(matchable(task.pattern), event)) continue;
    if ((await takenBefore(ports, task)).has(event.id)) continue;
    if (await handOverEvent(ports, task, text)) taken.push(task);
  }
  return taken;
}

async function* tasksFor(ports: Ports, event: MatchableObject, text: string): AsyncIterable<WaitingTask> {
  let shapes = await ports.wakes.shapes();
  // `keepEvent` stores the event first, so a wait that starts from now on finds it. Then this function reads the shapes
  // again, to find waits that started just before the event was stored.
  if (await keepEvent(ports, shapes, event, text)) shapes = await ports.wakes.shapes();
  const keys = new Set(shapes.flatMap(({ shape }) => keysFor(shape, event)));
  if (keys.size > maxKeys) return yield* ports.tasks.pending();
  const seen = new Set<string>();
  for (const key of keys) {
    for (const at of await ports.wakes.tasksAt(key)) {
      const task = seen.has(at.id) ? undefined : await ports.tasks.get(at);
      seen.add(at.id);
      if (task?.status === "open" || task?.status === "answered") yield task;
    }
  }
}

/** The longest time for which a run needs events: Step Functions ends an execution after a year. */
const aYearMs = 366 * 24 * 3600 * 1000;

/**
 * Makes NOVA store the events for those waits of the workflow that also take events from before the wait (`since` the
 * start of the run). Call this function before the run starts.
 */
export async function keepEventsFor({ wakes }: Ports, workflow: Workflow, startedAt: string): Promise<void> {
  const until = new Date(Date.parse(startedAt) + aYearMs).toISOString();
  for (const { node } of nodeIndex(workflow).values()) {
    if (!isWaitingNode(node) || node.type !== "wait" || !node.for.since) continue;
    await wakes.use({ shape: shapeOf(node.for.pattern), keepsEvents: true }, until);
  }
}

/** Stores an event under each key by which a later wait may look for it. Returns whether there is such a key. */
export async function keepEvent(
  { wakes, clock }: Ports,
  shapes: readonly UsedShape[],
  event: MatchableObject,
  text: string,
): Promise<boolean> {
  const kept = { id: String(event.id ?? ""), at: new Date(clock.now()).toISOString(), text };
  const keys = shapes.flatMap(({ shape, keepsEvents }) => (keepsEvents ? keysFor(shape, event) : []));
  for (const key of new Set(keys)) await wakes.keepEvent(key, kept);
  return keys.length > 0;
}

/**
 * Yields the events that match a task and arrived after the start of its run, oldest first. Leaves out the events that
 * the run has taken.
 */
export async function* eventsSinceStart(ports: Ports, task: WaitingTask, node: EventNode): AsyncIterable<KeptEvent> {
  const record = await ports.executions.get(task.execution);
  if (!record || !task.pattern || !task.wake) return;
  const pattern = matchable(task.pattern);
  const isVisit = (id: string, scope: string) => id === node.id && scope === task.scope;
  let taken: ReadonlySet<unknown> | undefined;
  for (const key of task.wake.keys) {
    for await (const event of ports.wakes.eventsAt(key, record.startedAt)) {
      if (!matchesPattern(pattern, parseExact(event.text) as MatchableObject)) continue;
      taken ??= await takenBefore(ports, task, isVisit);
      if (!taken.has(event.id)) yield event;
    }
  }
}

/**
 * Returns the ids of the events that earlier waits of the run have taken. Only waits for which `counts` returns true
 * are included.
 */
async function takenBefore(
  ports: Ports,
  task: WaitingTask,
  counts: (node: string, scope: string) => boolean = () => true,
): Promise<Set<unknown>> {
  const { version } = await definitionOf(ports, eventOf(task));
  const nodes = nodeIndex(version.workflow);
  const ids = new Set<unknown>();
  for await (const { node: id, entry } of entriesBefore(ports, task)) {
    const node = id === null ? undefined : nodes.get(id)?.node;
    if (node?.type !== "wait" || node.for.kind !== "event" || !counts(node.id, headOf(entry).scope)) continue;
    const json = (await contextAfter(entry, ports.blobs)).context.slot(node.for.into)?.json;
    const event: unknown = json === undefined ? undefined : JSON.parse(json);
    const taken = (event as { id?: unknown } | null | undefined)?.id;
    if (taken !== undefined) ids.add(taken);
  }
  return ids;
}
