import type { Ports, WaitingTask } from "@nova/engine";
import type { LocalCloud } from "@nova/local";

/** Tells what a run waits for, and what the executions wait for that its nodes run. */
export class WaitingTasks {
  readonly #cloud: LocalCloud;
  readonly #onTask: (task: WaitingTask) => void;
  /** Ids of tasks that were told, and of executions that are listened to. */
  readonly #known = new Set<string>();

  constructor(cloud: LocalCloud, onTask: (task: WaitingTask) => void) {
    this.#cloud = cloud;
    this.#onTask = onTask;
  }

  /** Each task once, however often a node says that it waits. Whoever misses one finds it in `nova tasks`. */
  look(execution: string, node: string): void {
    Promise.all([this.#tell(execution, node), this.#followChildren(execution)]).catch(() => undefined);
  }

  async #tell(execution: string, node: string): Promise<void> {
    for (const task of await this.#cloud.ports.tasks.ofExecution(execution)) {
      if (task.node === node && task.status === "open" && this.#isNew(task.id)) this.#onTask(task);
    }
  }

  async #followChildren(execution: string): Promise<void> {
    for await (const { id, parent } of this.#cloud.ports.executions.open()) {
      if (parent?.execution !== execution || !this.#isNew(id)) continue;
      const ended = this.#cloud.untilEnd(id, ({ node, state }) => state === "waiting" && this.look(id, node));
      ended.catch(() => undefined);
    }
  }

  #isNew(id: string): boolean {
    return !this.#known.has(id) && this.#known.add(id) !== undefined;
  }
}

/** Whether a run waits for somebody, itself or in an execution that one of its nodes runs. */
export async function isWaiting(
  { tasks, executions }: Pick<Ports, "executions" | "tasks">,
  id: string,
): Promise<boolean> {
  if (await tasks.hasOpen(id)) return true;
  const within = new Set([id]);
  // The one that began first comes first, so an execution comes behind the one around it.
  for await (const { id: inner, parent } of executions.open()) {
    if (!parent || !within.has(parent.execution)) continue;
    if (await tasks.hasOpen(inner)) return true;
    within.add(inner);
  }
  return false;
}
