import { type SealedToken, StoreUnavailable, type TaskStore, type Vault, type WaitingTask } from "@nova/engine";
import { LinkState } from "./resume-links.ts";
import type { Caller } from "./scheduler.ts";
import { WakeState } from "./wakes.ts";

const outage = () => new StoreUnavailable("the store did not answer in time");

/** Tasks and sealed tokens in memory, with the same conditions on writes as in DynamoDB. */
export class TaskState {
  readonly tasks = new Map<string, WaitingTask>();
  readonly tokens = new Map<string, SealedToken[]>();
  readonly wakes = new WakeState();
  readonly links = new LinkState();

  port(caller: Caller): TaskStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    const { tasks, tokens } = this;
    return {
      create: (task) =>
        ask("create task", () => {
          if (task.wake) this.wakes.add(task, task.wake);
          return !tasks.has(task.id) && tasks.set(task.id, Object.freeze({ ...task })) !== undefined;
        }),
      get: ({ id }) => ask("get task", () => tasks.get(id)),
      find: (id) => ask("find task", () => tasks.get(id)),
      ofExecution: (execution) =>
        ask("tasks of execution", () => this.all().filter((one) => one.execution === execution)),
      hasOpen: (execution) =>
        ask("open tasks", () => this.all().some((one) => one.execution === execution && one.status === "open")),
      async *pending(from = "") {
        const isDue = (task: WaitingTask) => isPending(task) && task.createdAt >= from;
        yield* await ask("pending tasks", () => Array.from(tasks.values()).filter(isDue));
      },
      async *pendingOf(client, kind, from = "") {
        const isDue = (task: WaitingTask) =>
          isPending(task) && task.kind === kind && task.client === client && task.createdAt >= from;
        yield* await ask("pending of a client", () => Array.from(tasks.values()).filter(isDue));
      },
      move: ({ id }, from, to, answeredAt) =>
        ask(`task ${to}`, () => {
          const task = tasks.get(id);
          if (!task || !from.includes(task.status)) return false;
          if (task.wake && to !== "open" && to !== "answered") this.wakes.remove(id, task.wake);
          tasks.set(id, { ...task, status: to, ...(answeredAt !== undefined && { answeredAt }) });
          return true;
        }),
      noteMail: ({ id }, mail) => {
        const note = (task: WaitingTask) => tasks.set(id, { ...task, mail });
        return ask("note mail", () => void (tasks.has(id) && note(tasks.get(id) as WaitingTask)));
      },
      putToken: ({ id }, token) =>
        ask("put token", () => {
          const others = (tokens.get(id) ?? []).filter(({ key }) => key !== token.key);
          tokens.set(id, [...others, token]);
        }),
      tokens: ({ id }) => ask("tokens", () => tokens.get(id) ?? []),
    };
  }

  all(): WaitingTask[] {
    return Array.from(this.tasks.values());
  }
}

function isPending({ status }: WaitingTask): boolean {
  return status === "open" || status === "answered";
}

/** A vault that reverses texts instead of encrypting them. It opens a text only with the same context. */
export const mirrorVault: Vault = {
  async seal(text, context) {
    return `${JSON.stringify(context)} ${Array.from(text).reverse().join("")}`;
  },
  async open(sealed, context) {
    const prefix = `${JSON.stringify(context)} `;
    if (!sealed.startsWith(prefix)) throw new RangeError("sealed for something else");
    return Array.from(sealed.slice(prefix.length)).reverse().join("");
  },
};
