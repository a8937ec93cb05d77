// @module-tag deep
import { type Trace, verifyExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type Answers, answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let server: ModelServer;
let answers: Answers = {};
let said: string | undefined;
let runs = 0;

beforeAll(async () => {
  server = await modelServer((request) => (said === undefined ? answering(answers, request) : { text: said }));
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

async function ran(nodes: Record<string, string | object>, context = "{}"): Promise<Trace> {
  return cloud.run(await cloud.publish(inARow(`empty-${++runs}`, nodes)), context);
}

async function written(models: Answers, node: object = {}): Promise<Trace> {
  [answers, said] = [models, undefined];
  return ran({ work: { executor: "prompt", prompt: "Add up the lines.", ...node } }, '{"lines":[1,2]}');
}

/** Verifies a run and returns the state with the problem, so that a failed test shows which entry is wrong. */
async function verdictOn({ execution }: Trace): Promise<string> {
  const { state, problem } = await verifyExecution(cloud.ports, execution.id);
  return problem ? `${state}: ${problem.message}` : state;
}

const sum = 'context["total"] = sum(context["lines"])';

describe("the chain of a run stays valid", { timeout: 60_000 }, () => {
  it.each(["", " ", "  \n", "\n", "```python\n```", "\ufeff"])(
    "if a model returns %j as the code of a node",
    async (code) => {
      const failed = await written({ code: [code, code, code] });
      expect(failed.execution.status).toBe("failed");
      expect(await verdictOn(failed)).toBe("anchored");
      const tolerated = await written({ code: [code, code, code] }, { onError: "end" });
      expect(tolerated.execution.status).toBe("completed");
      expect(await verdictOn(tolerated)).toBe("anchored");
      const repaired = await written({ code: [code, sum] });
      expect(repaired.context.text).toBe('{"lines":[1,2],"total":3}');
      expect(await verdictOn(repaired)).toBe("anchored");
    },
  );

  it("if a model returns empty code, and the chain contains the empty code", async () => {
    const trace = await written({ code: ["", "", ""] });
    const { code_executed, code_hash, ai_metadata } = entryOf(trace);
    const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect([code_executed, code_hash, ai_metadata?.generated_code]).toEqual(["", ofNothing, ""]);
  });

  it.each(["", " \n"])("if a model returns %j as the code of an analysis", async (analysis) => {
    const trace = await written({ needsAnalysis: true, analysis, code: [sum] });
    expect(trace.execution.status).toBe("completed");
    expect(await verdictOn(trace)).toBe("anchored");
  });

  it.each(["", " ", "\n"])("if a model returns %j for the prompt of a text node", async (text) => {
    said = text;
    const trace = await ran({ work: { executor: "text", prompt: "Say nothing." } });
    expect(await verdictOn(trace)).toBe("anchored");
  });

  it.each([
    ["the message of an error", 'raise ValueError("")'],
    ["a reported failure", 'import json\nprint(json.dumps({"status": "error", "message": ""}))'],
    ["the output of the code", 'print("", end="")'],
    ["a value", 'context["text"] = ""'],
    ["the name of a key", 'context[""] = ""'],
    ["a bytes value", 'context["raw"] = b""'],
    ["the code", "#"],
  ])("if %s is empty", async (_, code) => {
    expect(await verdictOn(await ran({ work: code }, '{"":"","n":1}'))).toBe("anchored");
    expect(await verdictOn(await ran({ work: { code, onError: "end" } }))).toBe("anchored");
  });
});
