import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Execution } from "@nova/engine";
import { eraseExecution } from "@nova/service";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();
const { nova, onServer } = useServer(api);

const good = "import random; context['a'] = random.random()";
const fragile = "if context['bad']: raise ValueError('bad')\ncontext['b'] = 1";
const inputs = { type: "object", properties: { bad: { type: "boolean" } } };
const flow = (nodes: Record<string, string>) => ({ body: inARow("fragile", nodes, { inputs }) });
/** The execution that the tests restart. */
let failed: string;
let openOne: string;
let inside: { id: string; root: string };

beforeAll(async () => {
  await api.call("POST /workflows", flow({ one: good, two: fragile, three: "context['c'] = 1" }));
  await api.call("POST /workflows", flow({ three: "context['c'] = 1", two: fragile }));
  await api.call("POST /workflows/fragile/activate", { body: { version: 1 } });
  const wait = { id: "wait", type: "wait", seconds: 1_000 };
  await api.call("POST /workflows", { body: inARow("waiting", { before: "pass", wait }) });
  const send = { type: "workflow", workflow: "fragile" };
  await api.call("POST /workflows", { body: inARow("outer", { before: "pass", send }) });
  failed = await execute("fragile", { bad: true });
  openOne = await execute("waiting", {}, 1);
  const root = await execute("outer", { bad: true });
  const { items } = (await api.call("GET /executions?workflow=fragile")).body;
  const { execution_id: id } = items.find(({ parent }: { parent: object | null }) => parent !== null);
  inside = { id, root };
});

async function execute(workflow: string, context: object, wait = 20): Promise<string> {
  return (await api.call(`POST /workflows/${workflow}/execute?wait=${wait}`, { body: { context } })).body.execution_id;
}

const restart = (id: string, body: object = {}, key?: string) =>
  api.call(`POST /executions/${id}/restart?wait=20`, { body, ...(key !== undefined && { key }) });

const count = async () => (await api.call("GET /executions?limit=200")).body.items.length;

describe("a restart", { timeout: 60_000 }, () => {
  it("reuses the outcomes before the failure, and names the execution from which these outcomes come", async () => {
    const { status, body } = await restart(failed, { context_patch: { bad: false } });
    expect([status, body]).toMatchObject([
      200,
      { status: "completed", restarted_from: failed, nodes: 2, context: { bad: false, b: 1, c: 1 } },
    ]);
    const { items } = (await api.call(`GET /executions/${body.execution_id}/chain`)).body;
    expect(items[1]).toMatchObject({ node_id: "one", reused_from: { execution_id: failed, scope: "", seq: 1 } });
    const [deed] = (await api.call("GET /audit?limit=1")).body.items;
    expect(deed).toMatchObject({ action: "execution.restarted", subject: failed, client_slug: "default" });
    expect(deed.detail).toMatchObject({ as: body.execution_id, version: 1 });
    const again = await restart(body.execution_id, { from: "three" });
    const third = await restart(again.body.execution_id, { from: "two" });
    expect(third.body).toMatchObject({ status: "completed", restarted_from: again.body.execution_id, nodes: 2 });
    expect(third.body.context.a).toBe(body.context.a);
  });

  it("answers 202 with the ids of both runs, and gives the same answer for the same Idempotency-Key", async () => {
    const options = { body: { from: "one" }, headers: { "idempotency-key": "once-and-no-more" } };
    const first = await api.call(`POST /executions/${failed}/restart`, options);
    expect([first.status, first.body]).toMatchObject([202, { status: "running", restarted_from: failed }]);
    expect(first.headers.get("location")).toBe(`/executions/${first.body.execution_id}`);
    expect((await api.call(`POST /executions/${failed}/restart`, options)).body).toMatchObject({
      execution_id: first.body.execution_id,
    });
  });

  it("accepts a list of places in the API and on the command line", async () => {
    const body = { from: ["two", "one"], dry_run: true };
    expect((await restart(failed, body)).body).toMatchObject({ reused: [], runs: ["one", "two", "three"] });
    const { out } = await nova("restart", failed, "--from", "two", "--from", "one", "--dry-run", "--json");
    expect(JSON.parse(out)).toMatchObject({ reused: [], runs: ["one", "two", "three"] });
    for (const from of [[], [""], [1]]) expect((await restart(failed, { from })).status).toBe(422);
  });

  it("is forecast by a dry run, which writes nothing", async () => {
    const before = await count();
    const { status, body } = await restart(failed, { dry_run: true });
    expect([status, body]).toMatchObject([
      200,
      { reused: ["one"], runs: ["two", "three"], again: ["two"], misfits: [], estimate: { cost_usd: 0 } },
    ]);
    expect((await restart(failed, { dry_run: true, version: 2 })).body.misfits).toHaveLength(1);
    expect(await count()).toBe(before);
  });

  it("is queued while its workflow is paused", async () => {
    await api.call("POST /workflows/fragile/pause");
    const { status, body } = await api.call(`POST /executions/${failed}/restart`);
    expect([status, body]).toMatchObject([202, { status: "queued", restarted_from: failed }]);
    await api.call("POST /workflows/fragile/resume");
  });

  it.each<[string, () => string, object, number, RegExp]>([
    ["an unknown execution", () => `exec_${"0".repeat(26)}`, {}, 404, /there is no execution/],
    ["an open execution", () => openOne, {}, 422, /is open - wait for its end, or cancel it/],
    ["an unknown place", () => failed, { from: "nine" }, 422, /never came to "nine" - it came to one, two/],
    ["a place inside a node that ran no workflow", () => failed, { from: "two/x" }, 422, /"two" ran no other workflow/],
    ["an unknown node in ask_again", () => failed, { ask_again: ["x"] }, 422, /never came to a node "x"/],
    ["an unknown version", () => failed, { version: 9 }, 404, /has no version 9/],
    [
      "a version that does not fit",
      () => failed,
      { version: 2 },
      422,
      /version 2 does not fit exec_\w+: one: no step of the version is this one - restart from/,
    ],
    ["a patch that does not fit", () => failed, { context_patch: { bad: "x" } }, 422, /bad.*boolean/],
    [
      "a patch that names an upload",
      () => failed,
      { context_patch: { f: { $upload: "upl_1" } } },
      422,
      /names an upload/,
    ],
    [
      "a patch with a key that only NOVA may use",
      () => failed,
      { context_patch: { $blob: 1 } },
      422,
      /mark NOVA's references/,
    ],
    ["a patch that is no object", () => failed, { context_patch: [] }, 422, /it has to be a JSON object/],
    ["a patch of a key that a node sets", () => failed, { context_patch: { a: 1 } }, 422, /which a node sets.*"one"/],
    ["a child run", () => inside.id, {}, 422, /is a part of exec_\w+ - restart exec_\w+ --from send\/\.\.\.$/],
  ])("is refused in one sentence and writes nothing if its request names %s", async (_, id, body, status, sentence) => {
    const before = await count();
    const answer = await restart(id(), body);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(sentence)]);
    expect(answer.body.detail).not.toContain("\n");
    expect(await count()).toBe(before);
  });

  it("of a run whose contents were erased is refused", async () => {
    const id = await execute("fragile", { bad: true });
    const record = await api.ports.executions.get(id);
    await eraseExecution(api.ports, { ...(record as Execution), open: false });
    await expectRefusal(restart(id), 422, `the contents of execution ${id} were erased - start a new one`);
  });

  it("of a run that is erased during the restart is refused", async () => {
    const gone = Object.assign(new Error("it was erased meanwhile - start a new one"), { name: "UnknownExecution" });
    vi.spyOn(api.ports.executions, "create").mockRejectedValueOnce(gone);
    await expectRefusal(restart(failed), 422, gone.message);
  });

  it("of a cancelled execution continues where the execution stopped", async () => {
    const id = await execute("waiting", {}, 1);
    await api.call(`POST /executions/${id}/cancel`);
    const { body } = await restart(id, { dry_run: true });
    expect(body).toMatchObject({ reused: ["before"], runs: ["wait"], again: [] });
    const { status } = await api.call(`POST /executions/${id}/restart`);
    expect(status).toBe(202);
  });

  it("of a run whose client has spent its budget is refused", async () => {
    await api.call("POST /clients", { body: { slug: "spender", name: "Spender" } });
    const body = { context: { bad: true }, client_slug: "spender" };
    const { execution_id: id } = (await api.call("POST /workflows/fragile/execute?wait=20", { body })).body;
    await api.call("PATCH /clients/spender", { body: { quotas: { max_cost_usd: 1 } } });
    await api.ports.spending.note(
      "spender",
      new Date().toISOString().slice(0, 7),
      { execution: id, scope: "", seq: 1 },
      2,
    );
    await expectRefusal(restart(id), 422, /has spent \$2.00 of \$1.00/);
    expect((await restart(id, { dry_run: true })).status).toBe(200);
  });

  it("of a frozen execution is frozen as well", async () => {
    const run = { context: { bad: true }, frozen: true };
    const { execution_id: id } = (await api.call("POST /workflows/fragile/execute?wait=20", { body: run })).body;
    const { execution_id: execution } = (await restart(id)).body;
    const { entry } = await api.ports.chain.read({ execution, scope: "", seq: 0 });
    expect(JSON.parse(entry?.head ?? "{}")).toMatchObject({ frozen: true, plan: { after: id } });
  });

  it("keeps a value of the context patch as data if the value only looks like a reference", async () => {
    const like = { $blob: { sha256: "0".repeat(64), bytes: 1, type: "text" } };
    const { body } = await restart(failed, { context_patch: { bad: false, like } });
    expect(body.context.like).toEqual({ $$blob: like.$blob });
  });

  it("can begin at a node inside a child run", async () => {
    const { body } = await restart(inside.root, { from: "send/two", context_patch: { bad: false } });
    expect(body).toMatchObject({ status: "completed", restarted_from: inside.root });
  });

  it("needs an API key with the role runner that may use the client of the execution", async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    expect((await restart(failed, {}, await api.key("viewer"))).status).toBe(403);
    await expectRefusal(restart(failed, {}, await api.key("runner", "acme")), 404, /^there is no execution/);
  });
});

describe("nova restart", { timeout: 60_000 }, () => {
  it("waits for the restarted run and prints it as nova run does, locally and on a server", async () => {
    const there = await onServer("restart", failed, "--json");
    expect([there.code, there.err]).toEqual([1, expect.stringMatching(/^exec_.* is accepted\n$/)]);
    const printed = JSON.parse(there.out);
    expect(printed).toMatchObject({ restarted_from: failed, status: "failed", error: { node: "two" }, version: 1 });
    const here = await nova("restart", failed, "--from", "one", "--version", "1");
    expect([here.code, here.out]).toEqual([
      1,
      expect.stringMatching(/✓ one$[\s\S]*✗ two[\s\S]*failed fragile version 1/m),
    ]);
    const { out } = await nova("trace", printed.execution_id);
    expect(out).toMatch(new RegExp(`restarted from ${failed}: 1 entry is reused`));
    expect((await nova("trace", failed)).out).toMatch(new RegExp(`restarted as .*${printed.execution_id}`));
    expect(out).toMatch(/1 +one +action +success +reused/);
    expect(JSON.parse((await onServer("trace", printed.execution_id, "--json")).out)).toMatchObject({
      restarted_from: failed,
      entries: [{ reused_from: null }, { reused_from: { execution_id: failed, seq: 1 } }, {}, {}],
    });
  });

  it("lists with --dry-run the nodes whose outcomes it would reuse and the nodes that it would run", async () => {
    const { code, out } = await onServer("restart", failed, "--dry-run", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { reused: ["one"], runs: ["two", "three"], misfits: [] }]);
    const told = await nova("restart", failed, "--dry-run");
    expect(told).toMatchObject({ code: 0, err: "" });
    expect(told.out).toMatch(/reuse 1: one\n.*run 2: two, three\n.*run again 1.*: two\n.*cost about \$0\.00/);
  });

  it("restarts each of many runs once, and continues after an interruption", async () => {
    const retry = { workflow: "retry", body: inARow("retry", { one: good, two: fragile }, { inputs }) };
    await api.call("POST /workflows", { body: retry.body });
    const sources = [await execute("retry", { bad: true }), await execute("retry", { bad: true })];
    await execute("retry", { bad: false });
    const patch = join(api.cloud.dataDir, "patch.json");
    await writeFile(patch, '{"bad": false}');
    const argv = ["restart", "--workflow", "retry", "--since", "2h", "--error", "NodeFailed"];
    const dry = JSON.parse((await onServer(...argv, "--dry-run", "--json")).out);
    expect(dry).toMatchObject({ items: sources.map((id) => ({ execution_id: id, reused: ["one"] })), skipped: 0 });
    expect((await nova(...argv, "--dry-run")).out).toMatch(new RegExp(`${sources[0]} +1 +1 +1 +\\d`));
    const { code, out } = await onServer(...argv, "--patch", patch, "--at-once", "1", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { items: sources.map((id) => ({ restarted_from: id, status: "completed" })), skipped: 0 },
    ]);
    const third = await execute("retry", { bad: true });
    const rest = await nova(...argv, "--status", "failed");
    expect([rest.code, rest.out]).toEqual([1, expect.stringMatching(`1/1 failed exec_\\w+ from ${third}: `)]);
    expect(rest.out).toMatch(/1 of 1 restarted: 1 failed\n2 were restarted before$/);
    expect((await nova(...argv, "--error", "NodeTimeout")).out).toBe("no execution to restart");
    const refused = await nova(...argv, "--from", "nine");
    expect(refused.out).toMatch(/1\/1 refused exec_\w+: execution exec_\w+ never came to "nine"/);
  });

  it.each([
    [["restart"], /no execution is named - name one from nova executions, or select many with --workflow/],
    [["restart", "exec_1", "--workflow", "w"], /name one execution, or select many with --workflow - not both/],
    [["restart", "--workflow", "w", "--since", "soon"], /--since soon is not a time - write 30m, 12h, 2d/],
    [["restart", "--workflow", "w", "--at-once", "0"], /--at-once 0 is not a whole number above 0/],
    [["restart", "exec_1", "--version", "x"], /x is not a version/],
    [["restart", "exec_1", "--patch", "nowhere.json"], /"nowhere.json" cannot be read/],
  ])("refuses %j with one sentence", async (argv, sentence) => {
    expect(await nova(...argv)).toMatchObject({ code: 2, err: expect.stringMatching(sentence) });
  });

  it("prints the refusal of an unknown node as one JSON object and one sentence", async () => {
    const { code, out, err } = await nova("restart", failed, "--from", "nine", "--json");
    expect([code, JSON.parse(out).status]).toEqual([2, "invalid"]);
    expect(err).toMatch(/^nova: execution exec_\w+ never came to "nine" - it came to one, two/);
  });
});
