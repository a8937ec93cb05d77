// @module-tag deep
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SFNClient,
} from "@aws-sdk/client-sfn";
import { cancelExecution, executionOf, startExecution, type Trace } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { countingLoop, countingPath } from "../support/counting-loop.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/** Returns the Step Functions executions of a run in their order, which is the number at the end of their names. */
async function executionsOf({ execution: { id, stateMachineArn } }: Pick<Trace, "execution">) {
  const states = new SFNClient();
  const machine = stateMachineArn.replace(/:\d+$/, "");
  const { executions = [] } = await states.send(new ListExecutionsCommand({ stateMachineArn: machine }));
  const own = executions.filter(({ name }) => name === id || name?.startsWith(`${id}.`));
  return Promise.all(
    own.map(async ({ name = "", status, executionArn, stateMachineVersionArn }) => {
      const last = { executionArn, maxResults: 1, reverseOrder: true };
      const { events: [event] = [] } = await states.send(new GetExecutionHistoryCommand(last));
      const { output, error } = await states.send(new DescribeExecutionCommand({ executionArn }));
      const number = Number(name.slice(id.length + 1) || 0);
      return { number, status, events: event?.id ?? 0, output, error, version: stateMachineVersionArn };
    }),
  ).then((all) => all.toSorted((a, b) => a.number - b.number));
}

describe("a run whose loop needs more events than a history of Step Functions can hold", { timeout: 60_000 }, () => {
  it("continues in further executions of the same version, with a single chain", async () => {
    const version = await cloud.publish(countingLoop("many-rounds"), { historyEvents: 200 });
    const trace = await cloud.run(version, '{"wanted": 60}');
    expect(trace.execution).toMatchObject({ status: "completed", nodes: 120 });
    expect(trace.path).toEqual(countingPath(60));
    expect(JSON.parse(trace.context.text)).toMatchObject({ n: 60 });
    expect(await verified(cloud, trace)).toBe("anchored");
    const all = await executionsOf(trace);
    expect(all.length).toBe(4);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(["SUCCEEDED"]));
    expect(new Set(all.map(({ version: arn }) => arn))).toEqual(new Set([version.stateMachineArn]));
    expect(Math.max(...all.map(({ events }) => events))).toBeLessThan(230);
    // Each execution starts the next one and returns its result, so all results are equal.
    expect(new Set(all.map(({ output }) => output)).size).toBe(1);
    expect(JSON.parse(all[0]?.output ?? "{}")).toMatchObject({ status: "completed", tip: trace.execution.tip });
  });

  it("ends all its executions as failed if the last execution fails", async () => {
    const code = "context['branch_decision'] = context['n'] < 5 or 1 / 0";
    const version = await cloud.publish(countingLoop("fails-late", code), { historyEvents: 20 });
    const trace = await cloud.run(version);
    expect(trace.execution).toMatchObject({ status: "failed", error: { node: "there", class: "NodeFailed" } });
    expect(trace.execution.error?.message).toMatch(/division by zero/);
    const all = await executionsOf(trace);
    expect(all.map(({ status, error }) => `${status} ${error}`)).toEqual(
      Array.from({ length: 3 }, () => "FAILED NodeFailed"),
    );
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("has no running executions after it was cancelled", async () => {
    const waits = "import time\nif context['n'] == 5: time.sleep(600)\ncontext['branch_decision'] = True";
    const version = await cloud.publish(countingLoop("is-cancelled", waits), { historyEvents: 20 });
    const { id } = await startExecution(cloud.ports, { version, context: "{}" });
    let begun = 0;
    const isThere = Promise.withResolvers<void>();
    const ended = cloud.untilEnd(id, ({ node, state }) => {
      if (node === "there" && state === "started" && ++begun === 5) isThere.resolve();
    });
    await isThere.promise;
    await cancelExecution(cloud.ports, id);
    await ended;
    const execution = await executionOf(cloud.ports, id);
    expect(execution.status).toBe("cancelled");
    expect((await executionsOf({ execution })).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => "ABORTED"),
    );
  });
});
