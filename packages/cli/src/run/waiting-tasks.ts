import type { NovaClient } from "@nova/client";
import type { AtWork, WaitingTask } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWhole } from "../api/recorded.ts";

/** A task that has to be answered before a run can continue. */
export type OpenTask = Pick<WaitingTask, "id" | "execution" | "node" | "kind" | "message" | "choices"> & {
  /** ISO 8601. */
  until: string | null;
};

/** Between two looks at one execution. */
const restMs = 200;

/** Tells what a run waits for, and what the executions wait for that its nodes run; each once. */
export class WaitingTasks {
  readonly #server: NovaClient;
  readonly #onTask: (task: OpenTask) => void;
  readonly #live: Pick<LocalCloud, "untilEnd"> | undefined;
  /** Ids of tasks that were told, and of executions that are listened to. */
  readonly #known = new Set<string>();
  /** Executions that are looked at, and whether they have to be again. */
  readonly #looks = new Map<string, "on" | "again">();

  constructor(server: NovaClient, onTask: (task: OpenTask) => void, live?: Pick<LocalCloud, "untilEnd">) {
    this.#server = server;
    this.#onTask = onTask;
    this.#live = live;
  }

  /** Answers whether somebody has to answer. `known`: what the execution does, where that was read. */
  async look(execution: string, known?: AtWork): Promise<boolean> {
    const { nodes, count } = known ?? (await readWhole(this.#server, execution)).atWork;
    let isAsked = false;
    for (const { node_id: node, waits_for: wait } of nodes) {
      if (wait?.kind === "workflow") isAsked = (await this.#lookInto(wait.execution_id)) || isAsked;
      if (wait?.kind !== "approval" && wait?.kind !== "event") continue;
      isAsked = true;
      const { kind, until, task_id } = wait;
      const asked = wait.kind === "approval" ? wait : { message: "", choices: [] };
      this.#tell({ id: task_id, execution, node, kind, until, ...asked });
    }
    return (count > nodes.length && (await this.#lookThroughTasks(execution))) || isAsked;
  }

  /** An execution names the first nodes that are at work. All tasks are on the lists of tasks. */
  async #lookThroughTasks(execution: string): Promise<boolean> {
    let isAsked = false;
    for (const kind of ["approval", "event"] as const) {
      for await (const { task_id, execution_id, node, message, choices, expires_at: until } of this.#server.tasks.list({
        kind,
      })) {
        if (execution_id !== execution) continue;
        isAsked = true;
        this.#tell({ id: task_id, execution, node, kind, until, message, choices });
      }
    }
    return isAsked;
  }

  /** One of which nothing is heard by itself is looked into again with the run around it. */
  #lookInto(child: string): Promise<boolean> {
    if (this.#live && this.#isNew(child)) {
      this.#live.untilEnd(child, ({ state }) => void (state === "waiting" && this.lookAside(child))).catch(() => {});
    }
    return this.look(child);
  }

  /**
   * Beside the run, which goes on whatever becomes of it: whoever misses a task finds it in `nova tasks`. Of a map a
   * thousand items may wait: there is one look at a time, and the next one sees what came meanwhile.
   */
  lookAside(execution: string): void {
    if (this.#looks.has(execution)) this.#looks.set(execution, "again");
    else void this.#lookWhileAsked(execution);
  }

  async #lookWhileAsked(execution: string): Promise<void> {
    do {
      this.#looks.set(execution, "on");
      await this.look(execution).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, restMs));
    } while (this.#looks.get(execution) === "again");
    this.#looks.delete(execution);
  }

  /** Whether an end of this process should leave the run to whoever answers. A server of an earlier release says less. */
  async isLeft(id: string): Promise<boolean> {
    const { execution, atWork } = await readWhole(this.#server, id);
    if (execution.status !== "waiting") return false;
    const isWhole = atWork.count > 0 && atWork.count === atWork.nodes.length;
    return (await this.look(id, atWork)) || !isWhole;
  }

  #tell(task: OpenTask): void {
    if (this.#isNew(task.id)) this.#onTask(task);
  }

  #isNew(id: string): boolean {
    return !this.#known.has(id) && this.#known.add(id) !== undefined;
  }
}
