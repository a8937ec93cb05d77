import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newFolder, nova } from "../cli/support/nova.ts";
import { inARow } from "../support/cloud.ts";
import { type Exchange, type ModelServer, modelServer } from "../support/model-server/model-server.ts";

const sum = { executor: "prompt", prompt: "Add up the lines." };
const code = 'context["total"] = sum(context["lines"])';
let cwd: string;
// Each command of these tests starts a process, which takes time.
vi.setConfig({ testTimeout: 120_000 });
let server: ModelServer | undefined;

beforeAll(async () => {
  cwd = await newFolder();
  delete process.env.OPENAI_API_KEY;
  await mkdir(join(cwd, "bills"));
  await define();
});
afterEach(closeServer);
afterAll(() => rm(cwd, { recursive: true }));

/**
 * Starts a model server that gives these answers in order. Before that, commands of the test have no model server and
 * no key.
 */
async function models(...answers: unknown[]): Promise<void> {
  await closeServer();
  server = await modelServer(answers.map((json): Exchange => ({ answer: { json } })));
  Object.assign(process.env, server.environment);
}

async function closeServer(): Promise<void> {
  delete process.env.OPENAI_API_KEY;
  delete process.env.OPENAI_BASE_URL;
  const open = server;
  server = undefined;
  await open?.[Symbol.asyncDispose]();
}

function written(code: string): unknown[] {
  return [{ needs_analysis: false, complexity: "simple" }, { code }, { valid: true, reason: "the total is there" }];
}

function define(node: object = {}, workflow: object = {}): Promise<void> {
  return writeFile(
    join(cwd, "bills", "workflow.json"),
    JSON.stringify(inARow("bills", { sum: { ...sum, ...node } }, workflow)),
  );
}

async function said(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, ...args, "--json");
  return { exit: code, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
}

const run = (...more: string[]) => said("run", "bills", "--set", "lines=[19.5, 3]", ...more);

async function entryOf(execution: string) {
  const { entries } = await said("trace", execution, "--full");
  return entries.find(({ node_id }: { node_id: string }) => node_id === "sum");
}

describe("code that a model writes", () => {
  it("is pinned by its first run, locked, and then runs frozen without any model", async () => {
    await models(...written(code));
    const first = await run();
    expect(first).toMatchObject({ exit: 0, status: "completed", context: { total: 22.5 } });
    await closeServer();

    expect(await said("lock", "bills")).toMatchObject({
      exit: 0,
      nodes: [{ node: "sum", action: "added", origin: "generated", proven_by: first.execution_id, approved: null }],
    });
    expect(await readFile(join(cwd, "bills/generated/sum.py"), "utf8")).toBe(`${code}\n`);
    expect(await said("lock", "bills", "--check")).toMatchObject({ exit: 0, valid: true });

    const frozen = await run("--frozen", "--set", "more=true");
    expect(frozen).toMatchObject({ exit: 0, context: { total: 22.5 } });
    const { ai_metadata, steps, code_executed } = await entryOf(frozen.execution_id);
    expect({ ...ai_metadata, steps, code_executed }).toMatchObject({
      cache_hit: true,
      tokens_input: 0,
      tokens_output: 0,
      cost_usd: 0,
      steps: [],
      code_executed: code,
    });
    expect(await said("verify", frozen.execution_id)).toMatchObject({ state: "anchored", problem: null });
  });

  it("stays unchanged by a second `nova lock` if no run has used other code since the first", async () => {
    const before = await readFile(join(cwd, "bills/workflow.lock.json"), "utf8");
    expect(await said("lock", "bills")).toMatchObject({ nodes: [{ action: "unchanged" }] });
    const { items } = await said("executions", "--workflow", "bills");
    const from = items.at(-1).execution_id;
    expect(await said("lock", "bills", "--from", from)).toMatchObject({ nodes: [{ action: "unchanged" }] });
    expect(await readFile(join(cwd, "bills/workflow.lock.json"), "utf8")).toBe(before);
  });

  it("is listed with its cost, and with the costs that later runs have saved because of it", async () => {
    const { nodes } = await said("lock", "bills", "--costs");
    expect(nodes).toMatchObject([
      { node: "sum", generations: 1, runs: 2, hits: 1, break_even_runs: 1, paid_off: true },
    ]);
    expect(nodes[0].written).toMatchObject({ tokens_input: 3000, tokens_output: 300 });
  });

  it("does not run frozen if an input has another type, which the error says", async () => {
    const frozen = await said("run", "bills", "--frozen", "--set", 'lines="19.5, 3"');
    expect(frozen).toMatchObject({ exit: 1, status: "failed", error: { node: "sum", class: "NodeFailed" } });
    expect(frozen.error.message).toMatch(/lines \(list then, string now\).*nova lock/);
  });

  it("becomes stale when the prompt changes, and then does not run frozen", async () => {
    await define({ prompt: "Add up the lines, rounded." });
    const changed = [{ ingredient: "prompt", was: "Add up the lines.", is: "Add up the lines, rounded." }];
    expect(await said("lock", "bills", "--check")).toMatchObject({ exit: 1, nodes: [{ state: "stale", changed }] });
    expect((await run("--frozen")).error.message).toMatch(/changed since: the prompt/);
    await define();
  });
});

describe("locked code that a person has edited", () => {
  const edit = `${code}\ncontext["lines_count"] = len(context["lines"])\n`;

  it("runs only after it is locked again", async () => {
    await writeFile(join(cwd, "bills/generated/sum.py"), edit);
    expect(await said("lock", "bills", "--check")).toMatchObject({
      exit: 1,
      nodes: [{ node: "sum", state: "edited" }],
    });
    expect(await run("--frozen")).toMatchObject({ exit: 2, diagnostics: [{ code: "NOVA803" }] });
  });

  it("can be tested with recorded runs before it is locked again", async () => {
    const { exit, nodes } = await said("lock", "bills", "--prove", "3");
    expect(exit).toBe(1);
    const outcomes = nodes[0].runs.map(({ outcome }: { outcome: string }) => outcome);
    // One outcome per recorded run, newest first. The first two ran frozen and failed: one had another prompt, and one
    // had a text as input.
    expect(outcomes).toEqual(["works", "fails_too", "differs"]);
    expect(nodes[0].runs[2].differences).toEqual([{ key: "lines_count", recorded: null, now: 2 }]);
  });

  it("runs after it is locked again, and the lockfile then says that a run has proved it", async () => {
    expect(await said("lock", "bills")).toMatchObject({
      nodes: [{ action: "edited", origin: "edited", proven_by: null }],
    });
    const frozen = await run("--frozen");
    expect(frozen).toMatchObject({ exit: 0, context: { total: 22.5, lines_count: 2 } });
    expect(await said("lock", "bills")).toMatchObject({
      nodes: [{ action: "updated", origin: "edited", proven_by: frozen.execution_id }],
    });
  });
});

describe("locked code that fails by its own fault", () => {
  const gaps = ["--set", "lines=[1, null]"];
  const better = 'context["total"] = sum(n or 0 for n in context["lines"])';

  it("is replaced immediately in local runs, but only by a command in the lock", async () => {
    await models(...written(better));
    const first = await said("run", "bills", ...gaps);
    expect(first).toMatchObject({ exit: 0, context: { total: 1 } });
    const { steps } = await entryOf(first.execution_id);
    expect(steps[0]).toMatchObject({ agent_name: "E2BExecutor", attempt_number: 0, status: "failed" });
    await closeServer();
    expect(await said("run", "bills", ...gaps)).toMatchObject({ exit: 0, context: { total: 1 } });
    expect(await said("run", "bills", ...gaps, "--frozen")).toMatchObject({ exit: 1, error: { class: "NodeFailed" } });
    expect(await said("lock", "bills")).toMatchObject({ nodes: [{ action: "updated", origin: "generated" }] });
    expect(await said("run", "bills", ...gaps, "--frozen")).toMatchObject({ exit: 0, context: { total: 1 } });
  });
});

describe("code that a user does not want", () => {
  const other = 'context["total"] = float(sum(n or 0 for n in context["lines"]))';

  it("is replaced in later local runs after a run with --fresh, and in the lock after a command", async () => {
    await models(...written(other));
    const fresh = await run("--fresh", "sum");
    expect(fresh).toMatchObject({ exit: 0, context: { total: 22.5 } });
    await closeServer();
    const again = await run();
    expect(await entryOf(again.execution_id)).toMatchObject({ code_executed: other, ai_metadata: { cache_hit: true } });
    const frozen = await run("--frozen");
    expect((await entryOf(frozen.execution_id)).code_executed).not.toBe(other);
    expect(await said("lock", "bills", "--from", fresh.execution_id)).toMatchObject({
      nodes: [{ action: "updated", proven_by: fresh.execution_id }],
    });
  });
});

describe("a workflow that requires approval", () => {
  it("runs only code that a person has approved", async () => {
    await define({}, { approval: "required" });
    expect(await run("--frozen")).toMatchObject({ exit: 2, diagnostics: [{ code: "NOVA805" }] });
    expect(await said("lock", "approve", "bills", "sum", "--as", "ada")).toMatchObject({
      exit: 0,
      approved: { by: "ada" },
    });
    expect(await run("--frozen")).toMatchObject({ exit: 0, error: null, context: { total: 22.5 } });
  });

  it("lets models write missing code, but runs the code only after an approval", async () => {
    await define({ prompt: "Add up the lines in cents." }, { approval: "required" });
    await rm(join(cwd, "bills/workflow.lock.json"));
    const cents = 'context["cents"] = round(sum(context["lines"]) * 100)';
    await models({ code: cents });
    const failed = await run();
    expect(failed).toMatchObject({
      exit: 1,
      error: { message: expect.stringMatching(/waits for somebody's approval/) },
    });
    expect(await run()).toMatchObject({ exit: 1, error: { message: expect.stringMatching(/nobody has approved/) } });
    await closeServer();
    expect(await said("lock", "bills")).toMatchObject({
      nodes: [{ action: "added", proven_by: null, approved: null }],
    });
    expect(await said("lock", "bills", "--prove", "2")).toMatchObject({
      nodes: [{ runs: [{ outcome: "works" }, {}] }],
    });
    expect(await said("lock", "approve", "bills", "sum")).toMatchObject({ exit: 0 });
    expect(await run("--frozen")).toMatchObject({ exit: 0, context: { cents: 2250 } });
  });
});
