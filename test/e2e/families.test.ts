import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  cancelExecution,
  type Execution,
  type RestartRequest,
  readTrace,
  restartExecution,
  startExecution,
  type Verification,
  verifyExecution,
  type WorkflowVersion,
} from "@nova/engine";
import { createClient, eraseExecution, eraseExpired, type ServicePorts } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../packages/engine/src/sha256.ts";
import { newFolder } from "../cli/support/nova.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { headIn } from "../support/forging/edits.ts";
import { heldChain } from "../support/forging/held-chain.ts";
import { type Item, RawTable } from "../support/forging/raw-table.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
/** A text that only the data of one family of restarts contains, so that the test can search for it. */
const mark = "Xanadu-7731";
const dayMs = 24 * 60 * 60 * 1000;
let cwd: string;
let cloud: TestCloud;
let ports: ServicePorts;
let version: WorkflowVersion;

beforeAll(async () => {
  cwd = await newFolder();
  cloud = await openTestCloud({ dataDir: join(cwd, ".nova") });
  ports = cloud.service;
  await cloud.publish(inARow("inner", { say: 'context["said"] = context["name"] * 2' }));
  version = await cloud.publish(
    inARow("family", {
      inline: 'context["who"] = context["name"] * 2',
      blobs: 'context["letters"] = context["name"] * 9000',
      call: { type: "workflow", workflow: "inner" },
      last: 'import time; time.sleep(context["nap"])\ncontext["more"] = context["name"] * 9001',
    }),
  );
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

const recordOf = async (id: string) => (await ports.executions.get(id)) as Execution;
const verify = (id: string): Promise<Verification> => verifyExecution(ports, id);

async function ended(id: string): Promise<Execution> {
  await cloud.untilEnd(id);
  return recordOf(id);
}

async function run(client: string, name = "Kubla"): Promise<Execution> {
  const context = JSON.stringify({ name, nap: 0 });
  return ended((await startExecution(ports, { version, context, client })).id);
}

async function begin(source: Execution, more: Partial<RestartRequest> = {}): Promise<string> {
  const request = { source, version, by: "user:test", from: "last", ...more };
  return (await restartExecution(ports, request)).execution.id;
}

const restart = async (source: Execution) => ended(await begin(source));

/** Restarts a run at a node that runs longer than this test, and returns the id of the open restart. */
async function restartOpen(source: Execution): Promise<string> {
  const id = await begin(source, { patch: '{"nap": 600}' });
  await new Promise<void>((resolve) => void cloud.untilEnd(id, ({ node }) => node === "last" && resolve()));
  return id;
}

/** Erases expired runs as if it were one day after the end of an execution, and returns the erased ids. */
async function expire({ endedAt = "" }: Execution): Promise<string[]> {
  const clock = { ...ports.clock, now: () => Date.parse(endedAt) + dayMs };
  const { erased, failed } = await eraseExpired({ ...ports, clock });
  expect(failed).toEqual([]);
  return erased;
}

async function filesWith(text: string): Promise<string[]> {
  const files = await readdir(join(cwd, ".nova"), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  const found = await Promise.all(paths.map(async (path) => ((await readFile(path)).includes(text) ? [path] : [])));
  return found.flat().filter((path) => !path.includes("/states/"));
}

describe("a run and all of its restarts", { timeout: 60_000 }, () => {
  it("name each other: a run names its restarts, and a restart names its source", async () => {
    const first = await run("default");
    const second = await restart(await recordOf(first.id));
    const third = await restart(await recordOf(first.id));
    const last = await restart(second);
    expect((await recordOf(first.id)).restarts).toEqual([second.id, third.id]);
    expect(await recordOf(second.id)).toMatchObject({ restartedFrom: first.id, restarts: [last.id] });
    expect(await ports.executions.create(last)).toBe(false);
    expect((await recordOf(second.id)).restarts).toEqual([last.id]);
  });

  it("keep their contents when another of these runs is erased, except the restarts of the erased run", async () => {
    const first = await run("default");
    const [second, other] = [await restart(first), await restart(first)];
    const third = await restart(second);
    expect(await eraseExecution(ports, await recordOf(second.id))).toEqual([second.id, third.id]);
    for (const { id } of [first, other])
      expect(await verify(id)).toMatchObject({ state: "anchored", erased: [], sourceGone: [] });
    for (const { id } of [second, third]) {
      const { state, erased, sourceGone } = await verify(id);
      expect([state, sourceGone]).toEqual(["anchored", []]);
      expect(erased.filter(({ execution }) => execution !== undefined)).toEqual([]);
      await expect(begin(await recordOf(id))).rejects.toThrow(/were erased - start a new one/);
    }
    expect(await eraseExecution(ports, await recordOf(first.id))).toEqual([first.id, second.id, other.id, third.id]);
  });

  it("cannot be erased while one of the restarts is open", async () => {
    const first = await run("default");
    const open = await restartOpen(first);
    const sentence = `execution ${open}, which was restarted from ${first.id}, is open - cancel it, or wait for its end, and erase then`;
    await expect(eraseExecution(ports, await recordOf(first.id))).rejects.toThrow(sentence);
    expect((await verify(first.id)).erased).toEqual([]);
    await cancelExecution(ports, open);
    await cloud.untilEnd(open);
    expect(await eraseExecution(ports, await recordOf(first.id))).toEqual([first.id, open]);
    expect(await verify(open)).toMatchObject({ state: "anchored", sourceGone: [first.id] });
  });

  it("cannot get a further restart if its source is erased before the restart has a record", async () => {
    const first = await run("default");
    const late = { ...first, id: `exec_${"7".repeat(26)}`, restartedFrom: first.id };
    await eraseExecution(ports, first);
    await expect(ports.executions.create(late)).rejects.toThrow(`execution ${first.id} was erased meanwhile`);
  });

  it("stay valid if the source of a restart is deleted, but not if the source is changed", async () => {
    const first = await run("default");
    const { id } = await restart(first);
    const inner = (await readTrace(ports, first.id)).entries.find(({ child }) => child)?.child?.execution_id ?? "";
    const items = await new RawTable().itemsOf(first.id, inner, id);
    const ofSource = items.filter(({ pk }) => !pk?.S?.includes(id));
    const without = { ...ports, chain: heldChain(items, [], ofSource) };
    expect(await verifyExecution(without, id)).toMatchObject({ state: "anchored", sourceGone: [first.id] });
    const link = ofSource.find((item) => headIn(item)?.node_id === "blobs") as Item;
    const head = JSON.stringify({ ...headIn(link), execution_time_ms: 1_000_000 });
    const changed = { ...link, head: { S: head }, hash: { S: sha256(head) } };
    const { state, problem } = await verifyExecution({ ...ports, chain: heldChain(items, [changed], []) }, id);
    expect([state, problem]).toEqual([
      "broken",
      {
        seq: 2,
        message: `the outcome that it takes over, link 2 of ${first.id}, is another: one of the two was changed`,
      },
    ]);
  });

  it("are each kept for their own retention time, and shared blobs are kept until the last of them expires", async () => {
    await createClient(ports, admin, { slug: "acme", name: "Acme" });
    await ports.clients.update("acme", { quotas: { retentionDays: 1 } });
    const first = await run("acme", mark);
    const open = await restartOpen(first);
    expect(await expire(first)).toEqual([]);
    await cancelExecution(ports, open);
    const second = await ended(open);
    const third = await restart(await recordOf(first.id));
    expect(await expire(first)).toEqual([first.id]);
    expect((await verify(first.id)).erased.length).toBeGreaterThan(5);
    const { state, erased, sourceGone } = await verify(third.id);
    expect([state, sourceGone]).toEqual(["anchored", [first.id]]);
    expect(erased.every(({ execution }) => execution !== undefined)).toBe(true);
    expect((await readTrace(ports, third.id)).context.text).toContain(mark);
    expect(await expire(second)).toEqual([second.id]);
    expect(await verify(third.id)).toMatchObject({ state: "anchored", sourceGone: [first.id] });
    expect(await expire(third)).toEqual([third.id]);
    for (const { id } of [first, second, third]) expect(await verify(id)).toMatchObject({ state: "anchored" });
    await cloud.close();
    expect(await filesWith(mark)).toEqual([]);
  });
});
