import { type MatchableObject, matchesPattern, parseExact } from "@nova/workflow";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { handOverEvent } from "./answer.ts";
import { matchable } from "./bind-pattern.ts";
import { keepEvent } from "./kept-events.ts";
import { keysFor, shapeOf, wakeOf } from "./wake.ts";

/** An event with more values than this, in the places that tasks are found by, asks every task instead. */
const maxKeys = 200;

/**
 * Hands an event (JSON text, in EventBridge's shape) to every task that waits for one like it, and answers those tasks.
 * What it costs depends on the shapes of patterns that are in use and on the tasks it wakes, not on those that wait. An
 * event is kept first, where a wait may look for it later.
 */
export async function deliverEvent(ports: Ports, text: string): Promise<WaitingTask[]> {
  const event = parseExact(text) as MatchableObject;
  const taken: WaitingTask[] = [];
  for await (const task of tasksFor(ports, event, text)) {
    if (task.kind !== "event" || !task.pattern || !matchesPattern(matchable(task.pattern), event)) continue;
    if (await handOverEvent(ports, task, text)) taken.push(task);
  }
  return taken;
}

async function* tasksFor(ports: Ports, event: MatchableObject, text: string): AsyncIterable<WaitingTask> {
  let { shapes, isWhole } = await ports.wakes.shapes();
  const isKept = await keepEvent(ports, shapes, event, text);
  if (!isWhole) await placeAll(ports);
  if (isKept || !isWhole) ({ shapes } = await ports.wakes.shapes());
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

/** Once per table: tasks of earlier releases are found as those of this one are. */
async function placeAll(ports: Pick<Ports, "tasks" | "wakes">): Promise<void> {
  for await (const task of ports.tasks.pending()) await placeTask(ports, task);
  await ports.wakes.markWhole();
}

/** Also for one that an earlier release made while this one was deployed. */
export async function placeTask({ tasks }: Pick<Ports, "tasks">, task: WaitingTask): Promise<void> {
  if (!task.pattern || task.wake) return;
  const pattern = matchable(task.pattern);
  await tasks.place(task, wakeOf(shapeOf(pattern), pattern));
}
