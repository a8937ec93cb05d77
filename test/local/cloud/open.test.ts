import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileWorkflow } from "@nova/compiler";
import { publishWorkflow, readTrace, startExecution, type Trace, verifyExecution } from "@nova/engine";
import { type LocalCloud, openLocalCloud } from "@nova/local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPython } from "../../../packages/local/src/cloud/python-packages.ts";
import { chaoticFunctions } from "../../support/chaos/chaotic-functions.ts";
import { makeWheel } from "./support/wheel.ts";

let dataDir: string;
let cloud: LocalCloud;

const chaotic = chaoticFunctions(20_261_121);

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-cloud-"));
  // These functions run every task twice, and kill some of the invocations.
  cloud = await openLocalCloud({ dataDir, invokeLambda: chaotic.invokeLambda });
});

afterAll(async () => {
  await chaotic.close(() => cloud.close());
  await rm(dataDir, { recursive: true });
});

const line = [
  { from: "start", to: "work" },
  { from: "work", to: "end" },
];

async function run(code: string, more: object = {}): Promise<Trace> {
  const nodes = [
    { id: "start", type: "start" },
    { id: "work", type: "action", code },
    { id: "end", type: "end" },
  ];
  const text = JSON.stringify({ id: "sample", nodes, edges: line, ...more });
  const { workflow, definition, findings } = await compileWorkflow({ text, fileName: "sample.json", files: {} });
  if (!workflow) throw new TypeError(JSON.stringify(findings));
  const template = await cloud.templateFor(workflow);
  const version = await publishWorkflow(cloud.ports, { workflow, stateMachine: definition, template });
  const { id } = await startExecution(cloud.ports, { version, context: '{"n": 1}' });
  await cloud.untilEnd(id);
  return readTrace(cloud.ports, id);
}

describe("the local cloud", { timeout: 120_000 }, () => {
  it("runs a workflow through all of its endpoints, and counts the requests of the run", async () => {
    const { execution, path, context } = await run("context['n'] += 1");
    expect({ ...execution, path }).toMatchObject({ status: "completed", open: false, path: ["start", "work", "end"] });
    expect(context.text).toBe('{"n":2}');
    expect((await verifyExecution(cloud.ports, execution.id)).state).toBe("anchored");
    const { aws_calls, sandbox_calls, bytes_stored } = await cloud.counters(execution.id);
    expect(aws_calls).toEqual({ dynamodb: expect.any(Number), s3: 0, states: 1 });
    expect(Math.min(aws_calls.dynamodb, sandbox_calls, bytes_stored)).toBeGreaterThan(2);
  });

  it("installs the requirements of a workflow only for this workflow", { tags: ["deep"] }, async () => {
    const wheel = await makeWheel(await findPython([]), dataDir);
    const { context } = await run("import novatiny; context['n'] = novatiny.answer", { requirements: [wheel] });
    expect(context.text).toBe('{"n":42}');
    expect((await run("import novatiny")).execution.error?.message).toContain("No module named 'novatiny'");
  });

  it("closes a run that Step Functions has ended, and only then reports the end to listeners", {
    tags: ["deep"],
  }, async () => {
    const { execution } = await run("import time; time.sleep(30)", { timeout: 1 });
    expect(execution).toMatchObject({ status: "failed", open: false, error: { node: "work", class: "NodeTimeout" } });
  });
});
