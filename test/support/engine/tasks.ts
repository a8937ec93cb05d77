import {
  type KeptEvent,
  type ResumeLink,
  type ResumeLinkStore,
  type SealedToken,
  StoreUnavailable,
  type TaskKey,
  type TaskStore,
  type UsedShape,
  type Vault,
  type Voter,
  type WaitingTask,
  type Wake,
  type WakeStore,
} from "@nova/engine";
import type { Caller } from "./scheduler.ts";

const outage = () => new StoreUnavailable("the store did not answer in time");

/** Tasks and sealed tokens in memory, with the same conditions on writes as in DynamoDB. */
export class TaskState {
  readonly tasks = new Map<string, WaitingTask>();
  readonly tokens = new Map<string, SealedToken[]>();
  readonly voters = new Map<string, Voter>();
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
      noteReminded: ({ id }, reminded) => {
        const note = (task: WaitingTask) => tasks.set(id, { ...task, reminded });
        return ask("note reminded", () => void (tasks.has(id) && note(tasks.get(id) as WaitingTask)));
      },
      noteDelegates: ({ id }, mails) => {
        const note = (task: WaitingTask) => tasks.set(id, { ...task, delegates: [...mails] });
        return ask("note delegates", () => void (tasks.has(id) && note(tasks.get(id) as WaitingTask)));
      },
      putToken: ({ id }, token) =>
        ask("put token", () => {
          const others = (tokens.get(id) ?? []).filter(({ key }) => key !== token.key);
          tokens.set(id, [...others, token]);
        }),
      voter: (execution, id) => ask("voter", () => this.voters.get(`${execution} ${id}`) ?? { version: 0, claims: [] }),
      putVoter: ({ execution }, id, { version, claims }) =>
        ask("put voter", () => {
          const key = `${execution} ${id}`;
          const isCurrent = (this.voters.get(key)?.version ?? 0) === version;
          if (isCurrent) this.voters.set(key, { version: version + 1, claims });
          return isCurrent;
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

/**
 * A vault that reverses texts instead of encrypting them. It opens a text only with the context with which it sealed
 * the text.
 */
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

class LinkState {
  readonly links = new Map<string, ResumeLink>();

  port(caller: Caller): ResumeLinkStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect });
    const { links } = this;
    return {
      create: (link) =>
        ask("create link", () => {
          if (!links.has(link.id)) links.set(link.id, link);
        }),
      get: ({ id }) => ask("get link", () => links.get(id)),
      ofExecution: (execution) =>
        ask("links of execution", () => [...links.values()].filter((link) => link.execution === execution)),
      call: ({ id }, body, calledAt) =>
        ask("call link", () => {
          const link = links.get(id);
          if (!link || link.body !== undefined) return false;
          return links.set(id, { ...link, body, calledAt }) !== undefined;
        }),
    };
  }
}

/**
 * An index in memory. It finds the tasks that wait for an event. It never deletes an event, but the real store keeps
 * events only for a week.
 */
class WakeState {
  readonly shapes = new Map<string, UsedShape>();
  readonly places = new Map<string, Map<string, TaskKey>>();
  readonly events = new Map<string, KeptEvent[]>();

  add({ execution, id }: WaitingTask, { shape, keys }: Wake): void {
    this.use({ shape, keepsEvents: false });
    for (const key of keys) this.#at(key).set(id, { execution, id });
  }

  remove(id: string, { keys }: Wake): void {
    for (const key of keys) this.#at(key).delete(id);
  }

  use(used: UsedShape): void {
    this.shapes.set(JSON.stringify(used), used);
  }

  port(caller: Caller): WakeStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect });
    return {
      shapes: () => ask("shapes", () => [...this.shapes.values()]),
      use: (shape) => ask("use shape", () => this.use(shape)),
      tasksAt: (key) => ask("tasks at a key", () => [...this.#at(key).values()]),
      keepEvent: (key, event) =>
        ask("keep event", () => {
          this.events.set(key, [...(this.events.get(key) ?? []), event]);
        }),
      eventsAt: async function* (this: WakeState, key: string, from: string) {
        yield* await ask("events at a key", () => (this.events.get(key) ?? []).filter(({ at }) => at >= from));
      }.bind(this),
    };
  }

  #at(key: string): Map<string, TaskKey> {
    const there = this.places.get(key) ?? new Map<string, TaskKey>();
    this.places.set(key, there);
    return there;
  }
}
