import type { NovaClient } from "@nova/client";
import type { AtWork, WaitingTask } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWhole } from "../api/recorded.ts";

/** A task that must be answered before a run can continue. */
export type OpenTask = Pick<WaitingTask, "id" | "execution" | "node" | "kind" | "message" | "choices"> & {
  /** ISO 8601. */
  until: string | null;
};

/** The pause between two reads of an execution. */
const restMs = 200;

/** Reports each task of a run and of its child executions once. */
export class WaitingTasks {
  readonly #server: NovaClient;
  readonly #onTask: (task: OpenTask) => void;
  readonly #live: Pick<LocalCloud, "untilEnd"> | undefined;
  /** Ids of reported tasks, and of child executions with a listener. */
  readonly #known = new Set<string>();
  /** Executions that are being read, and whether they must be read again. */
  readonly #looks = new Map<string, "on" | "again">();

  constructor(server: NovaClient, onTask: (task: OpenTask) => void, live?: Pick<LocalCloud, "untilEnd">) {
    this.#server = server;
    this.#onTask = onTask;
    this.#live = live;
  }

  /** Returns whether the execution waits for an answer. `known`: its open nodes, if they were read already. */
  async look(execution: string, known?: AtWork): Promise<boolean> {
    const { nodes, count } = known ?? (await readWhole(this.#server, execution)).atWork;
    let isAsked = false;
    for (const { node_id: node, waits_for: wait } of nodes) {
      if (wait?.kind === "workflow") isAsked = (await this.#lookInto(wait.execution_id)) || isAsked;
      if (wait?.kind !== "approval" && wait?.kind !== "event") continue;
      isAsked = true;
      const { kind, until, task_id } = wait;
      const asked = wait.kind === "approval" ? wait : { message: "", choices: [] };
      this.#report({ id: task_id, execution, node, kind, until, ...asked });
    }
    return (count > nodes.length && (await this.#lookThroughTasks(execution))) || isAsked;
  }

  /** An execution lists only its first open nodes. The task lists have all tasks. */
  async #lookThroughTasks(execution: string): Promise<boolean> {
    let isAsked = false;
    for (const kind of ["approval", "event"] as const) {
      for await (const { task_id, execution_id, node, message, choices, expires_at: until } of this.#server.tasks.list({
        kind,
      })) {
        if (execution_id !== execution) continue;
        isAsked = true;
        this.#report({ id: task_id, execution, node, kind, until, message, choices });
      }
    }
    return isAsked;
  }

  /** A child execution without a listener is read again together with its parent. */
  #lookInto(child: string): Promise<boolean> {
    if (this.#live && this.#isNew(child)) {
      this.#live
        .untilEnd(child, ({ state }) => void (state === "waiting" && this.lookInBackground(child)))
        .catch(() => {});
    }
    return this.look(child);
  }

  /**
   * Reads an execution in the background. A failure does not matter, because `nova tasks` lists every task. If a
   * thousand items of a map wait, one read at a time suffices, because the next one sees all new tasks.
   */
  lookInBackground(execution: string): void {
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

  /** Whether the run stays open at the end of this process, because it waits for an answer. */
  async staysOpen(id: string): Promise<boolean> {
    const { execution, atWork } = await readWhole(this.#server, id);
    if (execution.status !== "waiting") return false;
    const isWhole = atWork.count > 0 && atWork.count === atWork.nodes.length;
    return (await this.look(id, atWork)) || !isWhole;
  }

  #report(task: OpenTask): void {
    if (this.#isNew(task.id)) this.#onTask(task);
  }

  #isNew(id: string): boolean {
    return !this.#known.has(id) && this.#known.add(id) !== undefined;
  }
}
