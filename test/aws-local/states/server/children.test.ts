import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import type { StatesOptions } from "../../../../packages/aws-local/src/states/open-states.ts";
import { handClock } from "../support/hand-clock.ts";
import { asks, historyOf, inRow, keeper, reopened, standing, succeed, works } from "../support/parked.ts";
import { heldLambda, MACHINE, ROLE, type TestServer, testServer } from "../support/server.ts";

const CHILD = MACHINE.replace(/flow$/, "child");
const CHILD_RUN = "arn:aws:states:us-east-1:000000000000:execution:child:kid";
const starts = {
  Type: "Task",
  Resource: "arn:aws:states:::states:startExecution.sync:2",
  Parameters: { StateMachineArn: CHILD, Name: "kid", "Input.$": "$" },
};
const fails = { StartAt: "F", States: { F: { Type: "Fail", Error: "Broken", Cause: "on purpose" } } };
const describeChild = new DescribeExecutionCommand({ executionArn: CHILD_RUN });

/**
 * Starts an execution `one` of `parent`, which can start executions of `child`. Resolves when all executions have
 * ended, or wait for an answer, a time or a child execution.
 */
async function family(parent: object, child: object, options: Partial<StatesOptions> = {}): Promise<TestServer> {
  const server = await testServer(options);
  for (const [name, definition] of Object.entries({ flow: parent, child })) {
    const create = { name, definition: JSON.stringify(definition), roleArn: ROLE };
    await server.client.send(new CreateStateMachineCommand(create));
  }
  await server.client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: "one", input: '{"n":1}' }));
  await server.live.idle();
  return server;
}

describe("a state with states:startExecution.sync:2", () => {
  it("waits for the end of the child execution, and returns its output", async () => {
    const server = await family(inRow({ Start: starts }), inRow({ Work: works }), keeper());
    const { status, output } = await standing(server);
    const { startDate, stopDate } = await server.client.send(describeChild);
    expect([status, JSON.parse(output ?? "null")]).toEqual([
      "SUCCEEDED",
      {
        ExecutionArn: CHILD_RUN,
        Input: { n: 1 },
        InputDetails: { Included: true },
        Name: "kid",
        Output: { n: 1 },
        OutputDetails: { Included: true },
        RedriveCount: 0,
        RedriveStatus: "NOT_REDRIVABLE",
        StartDate: startDate?.getTime(),
        StateMachineArn: CHILD,
        Status: "SUCCEEDED",
        StopDate: stopDate?.getTime(),
      },
    ]);
  });

  it("records the events that AWS records", async () => {
    const server = await family(inRow({ Start: starts }), inRow({ Work: works }), keeper());
    const events = await historyOf(server);
    expect(events.slice(2, 6).map(({ type, previousEventId }) => [type, previousEventId])).toEqual([
      ["TaskScheduled", 2],
      ["TaskStarted", 3],
      ["TaskSubmitted", 4],
      ["TaskSucceeded", 5],
    ]);
    expect(events[2]?.taskScheduledEventDetails).toEqual({
      resourceType: "states",
      resource: "startExecution.sync:2",
      region: "us-east-1",
      parameters: JSON.stringify({ StateMachineArn: CHILD, Name: "kid", Input: { n: 1 } }),
    });
  });

  it("fails with States.TaskFailed if the child execution fails, and its cause describes the child", async () => {
    const server = await family(inRow({ Start: starts }), fails);
    const { status, error, cause } = await standing(server);
    expect([status, error, JSON.parse(cause ?? "null")]).toMatchObject([
      "FAILED",
      "States.TaskFailed",
      { ExecutionArn: CHILD_RUN, Status: "FAILED", Error: "Broken", Cause: "on purpose", Input: { n: 1 } },
    ]);
    expect((await historyOf(server)).at(-2)?.type).toBe("TaskFailed");
  });

  it.each([
    [
      "the name of another execution",
      { Name: "kid" },
      "ExecutionAlreadyExists",
      `Execution Already Exists: '${CHILD_RUN}'`,
    ],
    [
      "a state machine that does not exist",
      { StateMachineArn: `${CHILD}s` },
      "StateMachineDoesNotExist",
      "State Machine Does",
    ],
    ["an invalid name", { Name: "two words" }, "InvalidName", "Invalid Name: 'two words'"],
  ])("fails with the API's error for %s", async (_, parameters, code, message) => {
    const twice = {
      First: { ...starts, ResultPath: null },
      Second: { ...starts, Parameters: { ...starts.Parameters, "Input.$": "$", ...parameters } },
    };
    const server = await family(inRow(twice), inRow({ Work: works }), keeper());
    const { error, cause } = await standing(server);
    expect(error).toBe(`StepFunctions.${code}Exception`);
    expect(cause?.startsWith(message)).toBe(true);
    expect(cause).toContain(`(Service: AWSStepFunctions; Status Code: 400; Error Code: ${code}; Request ID: `);
  });

  it("gives the child execution a random name if it has none, and passes a text unchanged as input", async () => {
    const parameters = { StateMachineArn: CHILD, Input: '{"n":1}' };
    const machine = inRow({ Start: { ...starts, Parameters: parameters } });
    const { client } = await family(machine, inRow({ Work: works }), keeper());
    const { executions } = await client.send(new ListExecutionsCommand({ stateMachineArn: CHILD }));
    expect(executions?.map(({ name }) => name)).toEqual([expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/)]);
    const [child] = executions ?? [];
    const described = await client.send(new DescribeExecutionCommand({ executionArn: child?.executionArn }));
    expect(described.input).toBe('{"n":1}');
  });

  it("is refused in a definition if it names no state machine, or has unknown parameters", async () => {
    const { client } = await testServer();
    const create = async (parameters: object) => {
      const definition = JSON.stringify(inRow({ Start: { ...starts, Parameters: parameters } }));
      return client.send(new CreateStateMachineCommand({ name: "parent", definition, roleArn: ROLE }));
    };
    await expect(create({ Name: "kid" })).rejects.toMatchObject({ name: "InvalidDefinition" });
    await expect(create({ StateMachineArn: CHILD, Timeout: 3 })).rejects.toMatchObject({ name: "InvalidDefinition" });
    await create({ "StateMachineArn.$": "$.arn", Name: "kid" });
  });
});

describe("a child execution whose parent waits for its end", () => {
  it("is stopped when its parent is stopped", async () => {
    const server = await family(inRow({ Start: starts }), inRow({ Ask: asks }), keeper());
    await server.client.send(
      new StopExecutionCommand({ executionArn: `${MACHINE.replace("stateMachine", "execution")}:one` }),
    );
    await server.live.idle();
    expect(await server.client.send(describeChild)).toMatchObject({ status: "ABORTED" });
  });

  it("is stopped when another branch of its parent fails", async () => {
    const clock = handClock();
    const wait = { Type: "Wait", Seconds: 1, Next: "F" };
    const late = { StartAt: "W", States: { W: wait, F: { Type: "Fail", Error: "Beside" } } };
    const Branches = [inRow({ Start: starts }), late];
    const server = await family(inRow({ Fork: { Type: "Parallel", Branches } }), inRow({ Ask: asks }), {
      ...keeper(),
      clock,
    });
    clock.pass(1);
    expect(await standing(server)).toMatchObject({ status: "FAILED", error: "Beside" });
    expect(await server.client.send(describeChild)).toMatchObject({ status: "ABORTED" });
  });

  it("continues if the task of its parent times out", async () => {
    const clock = handClock();
    const limited = { ...starts, TimeoutSeconds: 5 };
    const server = await family(inRow({ Start: limited }), inRow({ Ask: asks }), { ...keeper(), clock });
    clock.pass(5);
    expect(await standing(server)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
    expect(await server.client.send(describeChild)).toMatchObject({ status: "RUNNING" });
  });

  it("waits at the same time as its parent, and both continue in another process", async () => {
    const { tokenOf, invokeLambda } = keeper();
    const parent = inRow({ Start: { ...starts, OutputPath: "$.Output" }, After: works });
    const second = await reopened(await family(parent, inRow({ Ask: asks }), { invokeLambda }), { invokeLambda });
    expect(second.interrupted).toEqual([]);
    await second.client.send(succeed(tokenOf({ n: 1 })));
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED", output: '"yes"' });
  });

  it("is interrupted together with its parent if the process dies in the middle of a function", async () => {
    const { called, invokeLambda } = heldLambda();
    const server = await testServer({ invokeLambda });
    for (const [name, definition] of Object.entries({
      flow: inRow({ Start: starts }),
      child: inRow({ Work: works }),
    })) {
      const create = { name, definition: JSON.stringify(definition), roleArn: ROLE };
      await server.client.send(new CreateStateMachineCommand(create));
    }
    await server.client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: "one" }));
    await called;
    expect((await reopened(server)).interrupted).toEqual(["kid", "one"]);
  });

  it.each([
    ["that it has ended", "stoppedAtMs"],
    ["that it was started", "startedAtMs"],
  ])("still reports to its parent %s if the process dies before the report", async (_, said) => {
    const { tokenOf, invokeLambda } = keeper();
    const server = await family(inRow({ Start: starts }), inRow({ Ask: asks }), { invokeLambda });
    await server.client.send(succeed(tokenOf({ n: 1 })));
    await server.live.idle();
    await server.close();
    rewrite(join(server.dataDir, "states/executions.ndjson"), (lines) => [
      ...lines.filter((line) => /^{"start"|^{"end":1/.test(line)),
      '{"park":0,"due":null}',
      ...(said === "stoppedAtMs" ? [] : ['{"wake":0}']),
    ]);
    rewrite(join(server.dataDir, "states/history/0.ndjson"), (lines) =>
      lines.slice(
        0,
        lines.findIndex((line) => line.includes(said)),
      ),
    );
    const second = await reopened(server, { invokeLambda });
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED" });
  });
});

function rewrite(file: string, edit: (lines: string[]) => string[]): void {
  writeFileSync(
    file,
    edit(readFileSync(file, "utf8").trimEnd().split("\n"))
      .map((line) => `${line}\n`)
      .join(""),
  );
}
