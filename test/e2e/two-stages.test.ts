// @module-tag deep
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newFolder, nova } from "../cli/support/nova.ts";
import { inARow } from "../support/cloud.ts";
import { type Exchange, type ModelServer, modelServer } from "../support/model-server/model-server.ts";

const analysis = 'result = {"count": len(context["lines"]), "most": max(context["lines"])}';
const code =
  'found = context["_data_analysis"]\ncontext["summary"] = f"{found[\'count\']} lines, at most {found[\'most\']}"';
const generated = (name: string) => join(cwd, "bills/generated", name);
let cwd: string;
let server: ModelServer | undefined;
// Each command of these tests starts a process, which takes time.
vi.setConfig({ testTimeout: 120_000 });

beforeAll(async () => {
  cwd = await newFolder();
  delete process.env.OPENAI_API_KEY;
  await mkdir(join(cwd, "bills"));
  await define();
});
afterEach(closeServer);
afterAll(() => rm(cwd, { recursive: true }));

function define(workflow: object = {}): Promise<void> {
  const sum = { executor: "prompt", prompt: "Sum the lines up in a sentence." };
  return writeFile(join(cwd, "bills", "workflow.json"), JSON.stringify(inARow("bills", { sum }, workflow)));
}

/**
 * Starts a model server that gives these answers in order. Before that, commands of the test have no model server and
 * no key.
 */
async function models(...answers: unknown[]): Promise<void> {
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

async function said(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, ...args, "--json");
  return { exit: code, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
}

const run = (lines: string, ...more: string[]) => said("run", "bills", "--set", `lines=${lines}`, ...more);

async function entryOf(execution: string) {
  const { entries } = await said("trace", execution, "--full");
  return entries.find(({ node_id }: { node_id: string }) => node_id === "sum");
}

describe("code of a node that reads the result of an analysis", () => {
  it("is pinned and locked together with its analysis, and runs frozen on the new result of the analysis", async () => {
    await models(
      { needs_analysis: true, complexity: "medium" },
      { code: analysis },
      { code },
      { valid: true, reason: "the lines are summed up" },
    );
    const first = await run("[19.5, 3]");
    expect(first).toMatchObject({ exit: 0, context: { summary: "2 lines, at most 19.5" } });
    await closeServer();
    expect(await said("replay", first.execution_id)).toEqual({ exit: 0, stderr: "", same: true, differs: [] });

    expect(await run("[7]")).toMatchObject({ exit: 0, context: { summary: "1 lines, at most 7" } });
    expect(await said("lock", "bills")).toMatchObject({
      exit: 0,
      nodes: [{ action: "added", file: "generated/sum.py", analysis_file: "generated/sum.analysis.py" }],
    });
    expect(await readFile(generated("sum.py"), "utf8")).toBe(`${code}\n`);
    expect(await readFile(generated("sum.analysis.py"), "utf8")).toBe(`${analysis}\n`);
    expect(await said("lock", "bills", "--check")).toMatchObject({ exit: 0, valid: true });

    const frozen = await run("[1, 2, 30]", "--frozen");
    expect(frozen).toMatchObject({ exit: 0, context: { summary: "3 lines, at most 30" } });
    expect(frozen.context).not.toHaveProperty("_data_analysis");
    expect(await said("replay", frozen.execution_id)).toMatchObject({ exit: 0, same: true });
    const { ai_metadata, steps, code_executed } = await entryOf(frozen.execution_id);
    expect({ steps, code_executed }).toEqual({ steps: [], code_executed: code });
    expect(ai_metadata).toMatchObject({ cache_hit: true, cost_usd: 0, stages_used: 2, tokens_input: 0 });
    expect(ai_metadata.analysis_metadata).toMatchObject({
      analysis_code: analysis,
      analysis_result: { count: 3, most: 30 },
      generation_time_ms: 0,
    });
    expect(await said("verify", frozen.execution_id)).toMatchObject({ state: "anchored", problem: null });
  });

  it("does not run frozen if the analysis reads a value whose type has changed", async () => {
    const frozen = await run('"19.5, 3"', "--frozen");
    expect(frozen).toMatchObject({ exit: 1, error: { message: expect.stringContaining("lines (list then, string") } });
  });

  it("is listed with the cost that later runs save: the cost of writing the code and its analysis", async () => {
    const { nodes } = await said("lock", "bills", "--costs");
    expect(nodes).toMatchObject([{ node: "sum", generations: 1, hits: 2, break_even_runs: 1 }]);
    expect(nodes[0].written).toMatchObject({ tokens_input: 4000 });
  });

  it("is tested on the input of each recorded run after the analysis has run on the same input", async () => {
    const { exit, nodes } = await said("lock", "bills", "--prove", "4");
    const outcomes = nodes[0].runs.map(({ outcome }: { outcome: string }) => outcome);
    // One outcome per recorded run, newest first. The newest run was frozen and failed before any code ran, because its
    // input was a text. Both the analysis and the code can handle a text.
    expect({ exit, outcomes }).toEqual({ exit: 0, outcomes: ["works", "same", "same", "same"] });
  });

  it("does not run if its frozen analysis fails", async () => {
    const failed = await run("[]", "--frozen");
    expect(failed).toMatchObject({
      exit: 1,
      error: { message: expect.stringMatching(/^the analysis failed: ValueError/) },
    });
    const { ai_metadata } = await entryOf(failed.execution_id);
    expect(ai_metadata.analysis_metadata).toMatchObject({ analysis_code: analysis, analysis_result: null });
    expect(await said("verify", failed.execution_id)).toMatchObject({ state: "anchored", problem: null });
  });

  it("does not run with an edited analysis until this analysis is locked", async () => {
    await writeFile(generated("sum.analysis.py"), analysis.replace("max(", "min("));
    expect(await said("lock", "bills", "--check")).toMatchObject({ exit: 1, nodes: [{ state: "edited" }] });
    const refused = await run("[4, 5]", "--frozen");
    expect(refused).toMatchObject({ exit: 2, diagnostics: [{ code: "NOVA803", file: "generated/sum.analysis.py" }] });
    expect(await said("lock", "bills")).toMatchObject({ nodes: [{ action: "edited", proven_by: null }] });
    const frozen = await run("[4, 5]", "--frozen");
    expect(frozen).toMatchObject({ exit: 0, context: { summary: "2 lines, at most 4" } });
    expect(await said("lock", "bills")).toMatchObject({
      nodes: [{ action: "updated", proven_by: frozen.execution_id }],
    });
  });

  it("is approved together with its analysis", async () => {
    await define({ approval: "required" });
    expect(await run("[4, 5]", "--frozen")).toMatchObject({ exit: 2, diagnostics: [{ code: "NOVA805" }] });
    expect(await said("lock", "approve", "bills", "sum", "--as", "ada")).toMatchObject({ exit: 0 });
    expect(await run("[4, 5]", "--frozen")).toMatchObject({ exit: 0 });
    await writeFile(generated("sum.analysis.py"), analysis);
    expect(await said("lock", "bills")).toMatchObject({ nodes: [{ action: "edited", approved: null }] });
    expect(await run("[4, 5]", "--frozen")).toMatchObject({ exit: 2, diagnostics: [{ code: "NOVA805" }] });
  });
});
