import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Execution, readTrace, startExecution, type Verification, verifyExecution } from "@nova/engine";
import { createClient, createKey, deleteClient, eraseExecution, type ServicePorts } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { traceLines } from "../../packages/cli/src/output/trace.ts";
import { newFolder } from "../cli/support/nova.ts";
import { traceOf } from "../cli/support/trace-of.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";

/** A text that all data of this test's client contains, so that the test can search for data that was not erased. */
const mark = "Xanadu-7731";
const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
let cwd: string;
let cloud: TestCloud;
let ports: ServicePorts;

const upload = {
  ...({ format: 1, id: `upl_${"0".repeat(26)}`, bytes: 1 } as const),
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: 2_000_000_000,
};

const look = "context['again'] = context['row']";

/** A workflow with inline values, blobs, a map, a child run, a failure and an approval. */
const flow = inARow("told", {
  inline: 'context["who"] = context["name"] * 2',
  blobs: 'context["letters"] = context["name"] * 9000\ncontext["raw"] = context["name"].encode()',
  each: {
    type: "map",
    items: "rows",
    as: "row",
    into: "seen",
    nodes: [{ id: "look", type: "action", code: look }],
    edges: [],
  },
  logs: 'print(context["name"])',
  fails: { code: 'raise ValueError(context["name"])', effects: false },
});

beforeAll(async () => {
  cwd = await newFolder();
  cloud = await openTestCloud({ dataDir: join(cwd, ".nova") });
  ports = cloud.service;
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

async function run(client: string, workflow: object, waits = false): Promise<Execution> {
  const version = await cloud.publish(workflow);
  const context = JSON.stringify({ name: mark, rows: [mark, `${mark} 2`] });
  const { id } = await startExecution(ports, { version, context, client });
  if (waits)
    await new Promise<void>((resolve) => void cloud.untilEnd(id, ({ state }) => state === "waiting" && resolve()));
  else await cloud.untilEnd(id);
  return (await ports.executions.get(id)) as Execution;
}

async function filesWith(text: string): Promise<string[]> {
  const files = await readdir(join(cwd, ".nova"), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  const found = await Promise.all(paths.map(async (path) => ((await readFile(path)).includes(text) ? [path] : [])));
  // Histories of Step Functions still contain the text, because AWS removes histories only 90 days after the run.
  return found.flat().filter((path) => !path.includes("/states/"));
}

const verify = (id: string): Promise<Verification> => verifyExecution(ports, id);

describe("the erasure of data", { timeout: 60_000 }, () => {
  it("is refused for a run that is open", async () => {
    const asking = inARow("asks", {
      ask: { type: "wait", event: { source: ["shop"], detail: { name: ["{{name}}"] } }, timeout: "1d" },
    });
    await createClient(ports, admin, { slug: "acme", name: "Acme" });
    const open = await run("acme", asking, true);
    await expect(eraseExecution(ports, open)).rejects.toThrow(/is open - cancel it/);
  });

  it("of a run removes its contents, but the chain stays valid and readable, and lists the missing contents", async () => {
    const other = await run("default", inARow("stays", { work: 'context["copy"] = context["name"]' }));
    const { id } = await run("default", flow);
    const before = await verify(id);
    expect(before).toMatchObject({ state: "anchored", erased: [] });
    await eraseExecution(ports, (await ports.executions.get(id)) as Execution);
    await eraseExecution(ports, (await ports.executions.get(id)) as Execution);
    const after = await verify(id);
    expect(after).toMatchObject({ state: "anchored", links: before.links });
    expect(after.erased).toEqual(expect.arrayContaining([expect.objectContaining({ seq: 0, content: "context" })]));
    const told = await readTrace(ports, id, { full: true });
    expect(told.execution.error).toMatchObject({ class: "NodeFailed", message: "its words were erased" });
    expect(told.path).toEqual(["start", "inline", "blobs", "each", "look", "look", "logs", "fails"]);
    const lines = traceLines(traceOf(told.entries, { path: told.path, context: told.context })).join("\n");
    expect(JSON.stringify(told) + lines).not.toContain(mark);
    expect(lines).toMatch(/blobs.*success/);
    expect(await verify(other.id)).toMatchObject({ state: "anchored", erased: [] });
  });

  it("of a client removes all data of the client, except the proof that its runs existed", async () => {
    const { id } = await run("acme", flow);
    const text = (await createKey(ports, admin, { ulid: "0".repeat(26), role: "viewer", client: "acme", name: mark }))
      .text;
    expect(text).toBeDefined();
    const owner = { client: "acme" };
    const sealed = { format: 1, owner, name: "box", kind: "custom", sealed: mark, key: "k", revision: 1 } as const;
    await ports.credentialStore.put({ ...sealed, changedAt: "2026-01-01T00:00:00.000Z" });
    await ports.uploads.create({ ...upload, client: "acme", type: mark });
    expect(await deleteClient(ports, admin, "acme")).toBe(true);
    expect(await ports.credentialStore.list(owner)).toEqual([]);
    expect(await ports.uploads.get(upload.id)).toBeUndefined();
    expect(await ports.clients.get("acme")).toBeUndefined();
    const { items } = await ports.executions.list({ client: "acme" });
    expect(items.map(({ status }) => status).sort()).toEqual(["cancelled", "failed"]);
    for (const execution of items) expect(await verify(execution.id)).toMatchObject({ state: "anchored" });
    expect((await verify(id)).erased.length).toBeGreaterThan(10);
    const deeds = await ports.audit.list({ limit: 9, client: "acme" });
    expect(deeds.map(({ action }) => action)).toEqual([
      "client.erased",
      "client.deleted",
      "key.created",
      "client.created",
    ]);
    const again = createClient(ports, admin, { slug: "acme", name: "Another" });
    await expect(again).rejects.toThrow(/^client "acme" was erased on [\d-]+, .* choose another slug$/);
    for (const { id: other } of (await ports.executions.list({ client: "default" })).items) {
      await eraseExecution(ports, (await ports.executions.get(other)) as Execution);
    }
    await cloud.close();
    expect(await filesWith(mark)).toEqual([]);
  });
});
