import type { Execution, ExecutionQuery } from "@nova/engine";
import { type Client, eraseExpired } from "@nova/service";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../support/engine/clock.ts";
import { atOnce } from "../../support/engine/scheduler.ts";

const clock = new VirtualClock();
const dayMs = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => clock.iso(clock.now - days * dayMs);

function run(id: string, began: number, ended: number | null, more: Partial<Execution> = {}): Execution {
  return {
    format: 1,
    id,
    workflowId: "w",
    version: 1,
    stateMachineArn: "arn",
    client: "acme",
    root: id,
    status: "completed",
    startedAt: daysAgo(began),
    open: ended === null,
    ...(ended !== null && { endedAt: daysAgo(ended) }),
    ...more,
  };
}

/** Returns `count` runs that ended long ago and started one minute apart. */
const many = (count: number, client = "acme", began = 90) =>
  Array.from({ length: count }, (_, index) =>
    run(`exec_${client}_${String(index).padStart(4, "0")}`, began - index / (24 * 60), 40, { client }),
  );

/**
 * Clients and their runs in memory. The class records which runs a caller lists, erases and writes. An erasure takes
 * one second.
 */
function world(clients: Client[], runs: Execution[]) {
  const asked: { from?: string; to?: string }[] = [];
  const erased: string[] = [];
  const writes: string[] = [];
  const broken = new Set<string>();
  const find = (id: string) => runs.find((one) => one.id === id) as Execution;
  const ports = {
    clock: clock.port(atOnce),
    clients: {
      list: async () => clients,
      update: async (slug: string, changes: Partial<Client>) => {
        writes.push(`${slug} ${Object.keys(changes)}`);
        return Boolean(Object.assign(clients.find((one) => one.slug === slug) as Client, changes));
      },
    },
    executions: {
      list: async ({ client, from = "", to = "~", cursor, limit = 50, oldestFirst }: ExecutionQuery) => {
        if (broken.has(client as string)) throw new Error("the list does not answer");
        asked.push({ from, to });
        const found = runs.filter((one) => one.client === client && one.startedAt >= from && one.startedAt <= to);
        found.sort((a, b) => (a.startedAt < b.startedAt === Boolean(oldestFirst) ? -1 : 1));
        const at = cursor === undefined ? 0 : found.findIndex(({ id }) => id === cursor) + 1;
        const items = found.slice(at, at + limit);
        return { items, ...(found.length > at + limit && { cursor: items.at(-1)?.id }) };
      },
      get: async (id: string) => runs.find((one) => one.id === id),
      update: async (id: string, changes: Partial<Execution>) => {
        writes.push(id);
        Object.assign(find(id), changes);
      },
    },
    chain: { putNote: async () => true },
    keyPair: { sign: async () => "signed" },
    eraser: {
      contents: async ({ execution }: { execution: string }) => {
        clock.advance(1_000);
        if (broken.has(execution)) throw new Error("its scope does not end");
        erased.push(execution);
        return [];
      },
      traces: async () => undefined,
      blobs: async ({ root }: { root: string }) => {
        if (broken.has(`blobs of ${root}`)) throw new Error("the bucket does not answer");
        writes.push(`blobs of ${root}`);
      },
    },
  };
  const erase = async (forMs = Number.POSITIVE_INFINITY) => (await whole(forMs)).erased;
  const whole = (forMs = Number.POSITIVE_INFINITY) => eraseExpired(ports as never, clock.now + forMs);
  return { asked, broken, erased, writes, erase, whole };
}

const client = (more: Partial<Client> = {}): Client => ({
  format: 1,
  slug: "acme",
  name: "Acme",
  pins: {},
  createdAt: daysAgo(100),
  quotas: { retentionDays: 30 },
  ...more,
});

describe("retention", () => {
  it("erases the runs that ended longer ago than the retention period of their client, and no other runs", async () => {
    const { erase } = world(
      [client()],
      [
        run("exec_old", 40, 31),
        run("exec_long", 40, 29),
        run("exec_open", 40, null),
        run("exec_inner", 40, 31, { parent: { execution: "exec_old", scope: "", seq: 1, depth: 1 } }),
        run("exec_new", 10, 9),
        run("exec_theirs", 40, 31, { client: "globex" }),
      ],
    );
    expect(await erase()).toEqual(["exec_old"]);
  });

  it.each([
    ["without a retention period", { quotas: {} }],
    ["that is being erased", { erasing: { by: "k", since: daysAgo(1), part: "rest" as const } }],
  ])("erases nothing of a client %s", async (_what, more) => {
    const { erase, asked } = world([client(more)], [run("exec_old", 90, 80)]);
    expect([await erase(), asked]).toEqual([[], []]);
  });

  it("continues at the first run that it could not erase yet, and erases nothing twice", async () => {
    const acme = client();
    const long = run("exec_long", 35, 29);
    const { asked, erase } = world([acme], [run("exec_old", 40, 39), long, run("exec_later", 32, 31)]);
    expect(await erase()).toEqual(["exec_old", "exec_later"]);
    expect(acme.erasedUntil).toBe(long.startedAt);
    Object.assign(long, { endedAt: daysAgo(31) });
    const end = daysAgo(30);
    expect(await erase()).toEqual(["exec_long"]);
    expect(await erase()).toEqual([]);
    expect(asked.map(({ from }) => from)).toEqual(["", long.startedAt, end]);
  });

  it("writes nothing for runs that are already erased, even if an older run is still open", async () => {
    const { erase, erased, writes } = world([client()], [run("exec_open", 95, null), ...many(120)]);
    expect(await erase()).toHaveLength(120);
    expect(writes.splice(0)).toHaveLength(361);
    expect([await erase(), erased.length, writes]).toEqual([[], 120, []]);
  });
});

describe("the retention of many runs", () => {
  it.each([30, 75, 500])("erases all runs, the oldest first, %i runs in one invocation", async (atOnce) => {
    const runs = many(400);
    const { erase, erased } = world([client()], runs);
    for (let time = 0; time < Math.ceil(400 / atOnce); time++) await erase(atOnce * 1_000);
    expect(erased).toEqual(runs.map(({ id }) => id));
  });

  it("stores its progress after each page, so that at most one page is repeated after a crash", async () => {
    const acme = client();
    const runs = many(120);
    const { erase, writes } = world([acme], runs);
    await erase(60_000);
    expect(acme.erasedUntil).toBe(runs[60]?.startedAt);
    expect(writes.filter((one) => one === "acme erasedUntil")).toHaveLength(2);
    expect(writes.indexOf("acme erasedUntil")).toBe(150);
  });

  it("does nothing if its time limit is over when it starts", async () => {
    const { erase, asked } = world([client()], many(120));
    expect(await erase(0)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("erases one page of runs per client in turn, and begins with the client that has the least progress", async () => {
    const globex = client({ slug: "globex", erasedUntil: daysAgo(95) });
    const acme = client({ erasedUntil: daysAgo(92) });
    const { erase } = world([acme, globex], [...many(200), ...many(200, "globex")]);
    const turns = (await erase(200_000)).map((id) => id.split("_")[1]);
    const pages = [0, 50, 100, 150].map((at) => [...new Set(turns.slice(at, at + 50))].join());
    expect(pages).toEqual(["globex", "acme", "globex", "acme"]);
  });
});

describe("a run with a restart", () => {
  const first = () => run("exec_first", 40, 39, { restarts: ["exec_second"] });
  const second = (ended: number | null) =>
    run("exec_second", 35, ended, { root: "exec_first", restartedFrom: "exec_first" });

  it("is not erased while the restart is open", async () => {
    const acme = client();
    const source = first();
    expect(await world([acme], [source, second(null)]).erase()).toEqual([]);
    expect(acme.erasedUntil).toBe(source.startedAt);
  });

  it("is erased when its own retention period is over, and the later erasure of the restart removes the shared blobs", async () => {
    const late = second(29);
    const { erase, writes } = world([client()], [first(), late]);
    expect([await erase(), writes.includes("blobs of exec_first")]).toEqual([["exec_first"], false]);
    Object.assign(late, { endedAt: daysAgo(31) });
    expect([await erase(), writes.includes("blobs of exec_first")]).toEqual([["exec_second"], true]);
  });

  it("keeps the blobs that it shares with the restart while the contents of one of these two runs cannot be erased", async () => {
    const { whole, broken, writes } = world([client()], [first(), second(31)]);
    broken.add("exec_first");
    expect((await whole()).erased).toEqual(["exec_second"]);
    expect(writes).not.toContain("blobs of exec_first");
    broken.clear();
    expect((await whole()).erased).toEqual(["exec_first"]);
    expect(writes).toContain("blobs of exec_first");
  });

  it("loses the blobs that it shares with the restart at the second attempt if the first attempt to erase the blobs failed", async () => {
    const { whole, broken, writes } = world([client()], [first(), second(31)]);
    broken.add("blobs of exec_first");
    expect((await whole()).failed).toMatchObject([{ id: "exec_second" }]);
    broken.clear();
    expect(await whole()).toEqual({ erased: ["exec_second"], failed: [] });
    expect(writes).toContain("blobs of exec_first");
  });
});

describe("a failed erasure", () => {
  it("is reported, does not affect other runs, and is repeated", async () => {
    const acme = client();
    const runs = many(60);
    const { whole, broken } = world([acme], runs);
    broken.add("exec_acme_0010");
    const { erased, failed } = await whole();
    expect(erased).toHaveLength(59);
    expect(failed).toEqual([{ id: "exec_acme_0010", reason: "Error: its scope does not end" }]);
    expect(acme.erasedUntil).toBe(runs[10]?.startedAt);
    broken.clear();
    expect(await whole()).toEqual({ erased: ["exec_acme_0010"], failed: [] });
  });

  it("does not affect another client if it failed because the runs of its client cannot be listed", async () => {
    const { whole, broken } = world([client({ slug: "globex" }), client()], many(3));
    broken.add("globex");
    const { erased, failed } = await whole();
    expect(erased).toHaveLength(3);
    expect(failed).toEqual([{ id: "globex", reason: "Error: the list does not answer" }]);
  });
});
