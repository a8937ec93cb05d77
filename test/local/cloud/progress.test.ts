import { describe, expect, it } from "vitest";
import type { LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import { type NodeEvent, Progress, withProgress } from "../../../packages/local/src/cloud/progress.ts";

const started: NodeEvent = { node: "a", state: "started" };
const succeeded: NodeEvent = { node: "a", state: "succeeded" };

describe("the progress of an execution in the local cloud", () => {
  it("is reported from the first event on, even to a listener that is added in the middle of the run", async () => {
    const progress = new Progress();
    progress.note("exec_1", started);
    const heard: NodeEvent[] = [];
    const end = progress.untilEnd("exec_1", (event) => heard.push(event));
    progress.note("exec_1", succeeded);
    progress.note("exec_2", started);
    progress.end("exec_1");
    progress.note("exec_1", started);
    await end;
    expect(heard).toEqual([started, succeeded]);
  });

  it("is reported in full to a listener that is added after the end, and the listener's wait then ends at once", async () => {
    const progress = new Progress();
    progress.note("exec_1", succeeded);
    progress.end("exec_1");
    const heard: NodeEvent[] = [];
    await progress.untilEnd("exec_1", (event) => heard.push(event));
    expect(heard).toEqual([succeeded]);
  });

  it("is never forgotten while a listener waits for the end of the execution", async () => {
    const progress = new Progress();
    const end = progress.untilEnd("exec_first");
    for (let index = 0; index < 2_000; index++) progress.end(`exec_${index}`);
    progress.end("exec_first");
    await end;
  });

  it("is kept until its first listener arrives, even if many other executions end or have listeners", async () => {
    const progress = new Progress();
    for (let index = 0; index < 1_500; index++) {
      progress.end(`exec_over_${index}`);
      await progress.untilEnd(`exec_over_${index}`);
      progress.untilEnd(`exec_waits_${index}`);
    }
    progress.note("exec_new", started);
    progress.note("exec_other", started);
    const heard: NodeEvent[] = [];
    const end = progress.untilEnd("exec_new", (event) => heard.push(event));
    progress.end("exec_new");
    await end;
    expect(heard).toEqual([started]);
  });
});

const execution = { id: "exec_1" };
const runNode = "arn:aws:lambda:us-east-1:000000000000:function:nova-run-node:live";

const broken: LambdaResult = { ok: false, errorType: "NodeFailed", errorMessage: "it broke", trace: [] };

/** Returns the events that one invocation with this result reports. */
async function told(input: object, answer: object | null, functionArn = runNode): Promise<NodeEvent[]> {
  return toldOf(answer ? { ok: true, payload: JSON.stringify(answer) } : broken, input, functionArn);
}

async function toldOf(result: LambdaResult, input: object, functionArn = runNode): Promise<NodeEvent[]> {
  const progress = new Progress();
  const invoke = withProgress(async () => result, progress);
  await invoke(functionArn, JSON.stringify(input), new AbortController().signal);
  const heard: NodeEvent[] = [];
  progress.end("exec_1");
  await progress.untilEnd("exec_1", (event) => heard.push(event));
  return heard;
}

it.each([
  ["succeeds", {}, "succeeded"],
  ["says until when it waits", { until: "2026-01-01T00:00:00Z" }, "waiting"],
  ["asks a person", { task: "task_1" }, "waiting"],
  ["runs another workflow", { child: { name: "exec_2" } }, "waiting"],
  ["fails", null, "failed"],
])("a node that %s reports its start, and then its new state", async (_, answer, state) => {
  const input = { execution, node: "a", scope: "", seq: 0 };
  expect(await told(input, answer)).toEqual([
    { node: "a", state: "started" },
    { node: "a", state },
  ]);
});

it("a node reports that a failed attempt will be retried, for code with a short and with a long timeout", async () => {
  const input = { execution, node: "a", scope: "", seq: 0 };
  const retrying = { node: "a", state: "retrying", message: "attempt 1 failed" };
  const thrown: LambdaResult = { ...broken, errorType: "NodeRetry", errorMessage: "attempt 1 failed" };
  expect((await toldOf(thrown, input)).at(-1)).toEqual(retrying);
  expect((await told(input, { running: true, pause: 3, retry: "attempt 1 failed" })).at(-1)).toEqual(retrying);
  expect(await told(input, { running: true, pause: 3 })).toEqual([{ node: "a", state: "started" }]);
});

it.each([
  ["", undefined],
  ["/f@3.left", undefined],
  ["/m@3.17", [17]],
  ["/m@3.17/f@1.left/n@2.0", [17, 0]],
])("a node in the scope %j reports the numbers of its map items as %j", async (scope, items) => {
  const [event] = await told({ execution, node: "a", scope, seq: 0 }, {});
  expect([event?.items, event?.map]).toEqual([items, items && "m"]);
});

it("a node whose outcome comes from another run is reported as reused", async () => {
  const input = { execution, node: "a", scope: "", seq: 0 };
  const answer = { summary: { node: "a", set: [], deleted: [], executionTimeMs: 0, reused: true } };
  expect((await told(input, answer)).at(-1)).toEqual({ node: "a", state: "succeeded", message: "reused" });
});

it("a map reports the number of its items", async () => {
  const input = { execution, node: "m", scope: "", seq: 0 };
  expect((await told(input, { count: 200, items: [] })).at(-1)).toEqual({ node: "m", state: "succeeded", count: 200 });
});

it("the second Lambda of a wait reports only the end of the wait, and a Lambda that runs no node reports nothing", async () => {
  expect(await told({ execution, node: "a", waited: true }, {})).toEqual([{ node: "a", state: "succeeded" }]);
  expect(await told({ execution, join: "a" }, {})).toEqual([]);
  expect(await told({ execution, node: "a" }, {}, runNode.replace("run-node", "settle-node"))).toEqual([]);
});
