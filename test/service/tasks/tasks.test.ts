import type { TaskStore, WaitingTask } from "@nova/engine";
import {
  type BusEvent,
  Forbidden,
  listTasks,
  type Principal,
  putEvent,
  Refused,
  type ServicePorts,
} from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";

const at = (minute: number) => `2026-11-22T10:${String(minute).padStart(2, "0")}:00.000Z`;

function task(minute: number, client: string, more: Partial<WaitingTask> = {}): WaitingTask {
  const [createdAt, expiresAt] = [at(minute), at(59)];
  const named = { id: `task_${minute}`, execution: `exec_${minute}`, client, createdAt, expiresAt };
  return { ...named, kind: "approval", status: "open", ...more } as WaitingTask;
}

const waiting = [
  ...Array.from({ length: 40 }, (_, minute) => task(minute, minute % 10 === 0 ? "acme" : "globex")),
  task(41, "acme", { kind: "event" }),
  task(42, "acme", { status: "answered" }),
  task(43, "acme", { expiresAt: at(44) }),
  task(44, "acme"),
];
let read: string[];

/** Yields tasks one by one and counts them. */
async function* noted(tasks: WaitingTask[], from = ""): AsyncGenerator<WaitingTask> {
  for (const one of tasks.filter(({ createdAt }) => createdAt >= from)) {
    read.push(one.id);
    yield one;
  }
}

const tasks: Partial<TaskStore> = {
  pending: (from) => noted(waiting, from),
  pendingOf: (client, kind, from) =>
    noted(
      waiting.filter((one) => one.client === client && one.kind === kind),
      from,
    ),
};
const ports = { tasks, clock: { now: () => Date.parse(at(50)) } } as ServicePorts;
const by = (client: string | null): Principal => ({ id: "key_1", role: "viewer", client, name: "" });

/** Returns the pages of the list: the ids of the tasks on each page, and how many tasks the page read. */
async function pagesFor(client: string | null, limit: number): Promise<[ids: string, read: number][]> {
  const pages: [string, number][] = [];
  for (let cursor: string | undefined; ; ) {
    read = [];
    const page = await listTasks(ports, by(client), { limit, ...(cursor !== undefined && { cursor }) });
    pages.push([page.items.map(({ id }) => id.slice("task_".length)).join(" "), read.length]);
    if (page.cursor === undefined) return pages;
    cursor = page.cursor;
  }
}

beforeEach(() => {
  read = [];
});

describe("the list of tasks", () => {
  it("reads only tasks of the client for an API key of one client, and skips the tasks of earlier pages", async () => {
    expect(await pagesFor("acme", 2)).toEqual([
      ["0 10", 3],
      ["20 30", 4 + 2],
      ["44", 4],
    ]);
  });

  it.each(["acme", null])("of client %s shows no approvals if only tasks for events are requested", async (client) => {
    const { items } = await listTasks(ports, by(client), { limit: 9, kind: "event" });
    expect(items.map(({ id }) => id)).toEqual(["task_41"]);
  });

  it("of a client without open tasks reads no task", async () => {
    expect(await pagesFor("initech", 2)).toEqual([["", 0]]);
  });

  it("continues after the end of the previous page for an API key for all clients", async () => {
    const pages = await pagesFor(null, 20);
    expect(pages.map(([ids]) => ids.split(" ").length)).toEqual([20, 20, 1]);
    expect(pages.map(([, count]) => count)).toEqual([21, 25, 5]);
  });
});

describe("an event that a caller puts on the bus", () => {
  const everybody: Principal = { id: "key_1", role: "runner", client: null, name: "all" };
  const paid: BusEvent = { source: "shop.orders", type: "Paid", detail: "{}" };

  let put: BusEvent[];
  let ports: Pick<ServicePorts, "bus">;

  beforeEach(() => {
    put = [];
    const bus: ServicePorts["bus"] = {
      put: async (event) => `e-${put.push(event)}`,
      whole: () => Promise.reject(new RangeError("nobody reads")),
    };
    ports = { bus };
  });

  it("is passed on to the bus unchanged", async () => {
    expect(await putEvent(ports, everybody, paid)).toBe("e-1");
    expect(put).toEqual([paid]);
  });

  it("needs an API key for all clients", async () => {
    await expect(putEvent(ports, { ...everybody, client: "acme" }, paid)).rejects.toThrow(Forbidden);
    expect(put).toEqual([]);
  });

  it.each(["nova", "aws.s3", "aws.states"])(
    "cannot have the source %s, which is reserved for NOVA or AWS",
    async (source) => {
      await expect(putEvent(ports, everybody, { ...paid, source })).rejects.toThrow(Refused);
      expect(put).toEqual([]);
    },
  );

  it.each(["nova.shop", "novas", "laws.s3"])("can have the source %s", async (source) => {
    await putEvent(ports, everybody, { ...paid, source });
    expect(put).toMatchObject([{ source }]);
  });
});
