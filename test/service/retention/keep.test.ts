import type { Execution } from "@nova/engine";
import { type Client, eraseExpired } from "@nova/service";
import { expect, it } from "vitest";
import { VirtualClock } from "../../support/engine/clock.ts";
import { atOnce } from "../../support/engine/scheduler.ts";

const clock = new VirtualClock();
const dayMs = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => clock.iso(clock.now - days * dayMs);

function run(id: string, began: number, ended: number | null, more: Partial<Execution> = {}): Execution {
  return {
    ...{ format: 1, id, workflowId: "w", version: 1, stateMachineArn: "arn", client: "acme", root: id },
    ...{ status: "completed", startedAt: daysAgo(began), open: ended === null },
    ...(ended !== null && { endedAt: daysAgo(ended) }),
    ...more,
  };
}

/** Clients and their runs in memory; answers which runs were listed, and which erased. */
function world(clients: Client[], runs: Execution[]) {
  const asked: { from?: string; to?: string }[] = [];
  const ports = {
    clock: clock.port(atOnce),
    clients: {
      list: async () => clients,
      update: async (slug: string, changes: Partial<Client>) => {
        const client = clients.find((one) => one.slug === slug);
        return Boolean(client && Object.assign(client, changes));
      },
    },
    executions: {
      list: async ({ client, from = "", to = "~" }: { client: string; from?: string; to?: string }) => {
        asked.push({ from, to });
        return { items: runs.filter((one) => one.client === client && one.startedAt >= from && one.startedAt <= to) };
      },
    },
    eraser: { contents: async () => [], traces: async () => undefined, blobs: async () => undefined },
  };
  return { asked, erase: () => eraseExpired(ports as never) };
}

const client = (more: Partial<Client> = {}): Client => ({
  ...{ format: 1, slug: "acme", name: "Acme", pins: {}, createdAt: daysAgo(100), quotas: { retentionDays: 30 } },
  ...more,
});

it("erases runs that ended before the days for which they are kept, and no others", async () => {
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

it("keeps everything of a client that says nothing", async () => {
  const { quotas: _, ...saysNothing } = client();
  expect(await world([saysNothing], [run("exec_old", 90, 80)]).erase()).toEqual([]);
});

it("goes on where it came to, which is the first run that was not over yet", async () => {
  const acme = client();
  const long = run("exec_long", 35, 29);
  const { asked, erase } = world([acme], [run("exec_old", 40, 39), long, run("exec_later", 32, 31)]);
  expect(await erase()).toEqual(["exec_old", "exec_later"]);
  expect(acme.erasedUntil).toBe(long.startedAt);
  Object.assign(long, { endedAt: daysAgo(31) });
  expect(await erase()).toEqual(["exec_long", "exec_later"]);
  expect(await erase()).toEqual([]);
  expect(asked.map(({ from }) => from)).toEqual(["", long.startedAt, daysAgo(30)]);
});
