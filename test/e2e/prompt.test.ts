import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { type Answers, answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let answers: Answers = {};
let runs = 0;

beforeAll(async () => {
  server = await modelServer((request) => answering(answers, request));
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

/** Runs a prompt node in a new workflow, for which no run has pinned code yet. */
async function written(node: object, models: Answers, context = "{}") {
  answers = models;
  const asked = { executor: "prompt", prompt: "Add up the lines.", ...node };
  return cloud.run(await cloud.publish(inARow(`prompts-${++runs}`, { work: asked })), context);
}

const sum = 'context["total"] = sum(context["lines"])';

describe("a prompt node", () => {
  it("runs the code that a model writes, and records the steps of the model in the chain", async () => {
    const trace = await written({}, { code: [sum] }, '{"lines":[19.5,3]}');
    expect(trace.execution).toMatchObject({ status: "completed", spent: { tokens_input: 3000, tokens_output: 300 } });
    expect(trace.context.text).toBe('{"lines":[19.5,3],"total":22.5}');
    expect(entryOf(trace)).toMatchObject({
      code_executed: sum,
      ai_metadata: { attempts: 1, cache_hit: false, generated_code: sum, status: "success", stages_used: 1 },
    });
    expect(entryOf(trace).steps.map(({ agent_name }) => agent_name)).toEqual([
      "InputAnalyzer",
      "CodeGenerator",
      "CodeValidator",
      "E2BExecutor",
      "OutputValidator",
    ]);
    expect(entryOf(trace).steps[1]).toMatchObject({
      prompt: expect.stringContaining("Add up the lines."),
      cost_usd: expect.any(Number),
    });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("asks no model in a second run of its workflow", async () => {
    answers = { code: [sum] };
    const version = await cloud.publish(inARow("again", { work: { executor: "prompt", prompt: "Add up the lines." } }));
    await cloud.run(version, '{"lines":[1]}');
    server.requests.length = 0;
    const trace = await cloud.run(version, '{"lines":[2,3]}');
    expect(server.requests).toEqual([]);
    expect(trace.context.text).toBe('{"lines":[2,3],"total":5}');
    expect(entryOf(trace)).toMatchObject({ steps: [], ai_metadata: { cache_hit: true, tokens_input: 0, cost_usd: 0 } });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("first analyses the data if the model requests an analysis, and keeps the result of the analysis out of the context", async () => {
    const look = 'result = {"count": len(context["lines"])}';
    const use = 'context["total"] = sum(context["lines"]) / context["_data_analysis"]["count"]';
    const trace = await written({}, { needsAnalysis: true, analysis: look, code: [use] }, '{"lines":[1,2]}');
    expect(trace.context.text).toBe('{"lines":[1,2],"total":1.5}');
    expect(entryOf(trace).ai_metadata).toMatchObject({
      stages_used: 2,
      analysis_metadata: { analysis_code: look, analysis_result: { count: 2 } },
    });
  });

  it("succeeds at the third attempt, and each request to the model contains the earlier attempts", async () => {
    const code = ['context["total"] = lines', 'context["total"] = sum(context["lines"]) / 0', sum];
    const trace = await written({}, { code }, '{"lines":[1,2]}');
    expect(trace.context.text).toBe('{"lines":[1,2],"total":3}');
    const { ai_metadata } = entryOf(trace);
    expect(ai_metadata).toMatchObject({ attempts: 3, status: "success" });
    expect(ai_metadata?.errors.map(({ agent_name }) => agent_name)).toEqual(["CodeValidator", "E2BExecutor"]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("fails after three attempts, with the last code and all attempts in its entry", async () => {
    const bad = 'context["total"] = sum(context["lines"]) / 0';
    const trace = await written({}, { code: [bad, bad, bad] }, '{"lines":[1,2]}');
    expect(trace.execution.error).toMatchObject({ node: "work", class: "NodeFailed" });
    expect(entryOf(trace)).toMatchObject({ code_executed: bad, status: "failed" });
    expect(entryOf(trace).ai_metadata).toMatchObject({ status: "failed_after_retries", attempts: 3 });
    expect(entryOf(trace).ai_metadata?.all_attempts).toHaveLength(3);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("runs code that can connect only to the hosts that the node names", async () => {
    const fetch = `import urllib.request\ncontext["page"] = urllib.request.urlopen("${server.url}").status`;
    const trace = await written({}, { code: [fetch, fetch, fetch] });
    expect(trace.execution.status).toBe("failed");
    expect(entryOf(trace).error_message).toMatch(/network|refused|unreachable|connect/i);
  });
});
