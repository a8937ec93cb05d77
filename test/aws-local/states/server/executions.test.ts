import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ExecutionStatus,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { DATA_LIMIT_BYTES } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { failure } from "../support/run.ts";
import { EXECUTION, heldLambda, invokes, MACHINE, passes, ROLE, testServer } from "../support/server.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const start = (name?: string, input?: string) => new StartExecutionCommand({ stateMachineArn: MACHINE, name, input });
const describeRun = (name: string) => new DescribeExecutionCommand({ executionArn: `${EXECUTION}:${name}` });
const historyOf = (name: string, fields: object = {}) =>
  new GetExecutionHistoryCommand({ executionArn: `${EXECUTION}:${name}`, ...fields });

const fails = JSON.stringify({ StartAt: "S", States: { S: { Type: "Fail", Error: "E" } } });

async function createFlow(client: SFNClient, definition = passes): Promise<void> {
  await client.send(new CreateStateMachineCommand({ name: "flow", definition, roleArn: ROLE }));
}

describe("StartExecution", () => {
  it("runs the state machine, and stores the input and output of the execution", async () => {
    const { client, live, changes } = await testServer();
    await createFlow(client);
    const started = await client.send(start("one", '{ "n": 1 }'));
    expect(started).toMatchObject({ executionArn: `${EXECUTION}:one`, startDate: expect.any(Date) });
    await live.idle();
    const described = await client.send(describeRun("one"));
    expect(described).toMatchObject({
      status: "SUCCEEDED",
      stateMachineArn: MACHINE,
      name: "one",
      startDate: started.startDate,
      stopDate: expect.any(Date),
      input: '{ "n": 1 }',
      inputDetails: { included: true },
      output: '{"n":1}',
      outputDetails: { included: true },
    });
    expect(changes).toEqual([
      {
        executionArn: `${EXECUTION}:one`,
        stateMachineArn: MACHINE,
        stateMachineVersionArn: null,
        name: "one",
        status: "SUCCEEDED",
        startDate: described.startDate?.getTime(),
        stopDate: described.stopDate?.getTime(),
        input: '{ "n": 1 }',
        inputDetails: { included: true },
        output: '{"n":1}',
        outputDetails: { included: true },
        error: null,
        cause: null,
      },
    ]);
  });

  it("gives a random name to an execution without a name, and uses {} as the default input", async () => {
    const { client, live } = await testServer();
    await createFlow(client);
    const { executionArn } = await client.send(start());
    await live.idle();
    expect(executionArn).toMatch(/:[\da-f]{8}-[\da-f-]{27}$/);
    expect((await client.send(new DescribeExecutionCommand({ executionArn }))).input).toBe("{}");
  });

  it("returns the running execution that has the same name and input", async () => {
    const held = heldLambda();
    const { client, live } = await testServer({ invokeLambda: held.invokeLambda });
    await createFlow(client, invokes);
    const first = await client.send(start("one", '{"a":1}'));
    const again = await client.send(start("one", '{"a":1}'));
    expect([again.executionArn, again.startDate]).toEqual([first.executionArn, first.startDate]);
    const refused = { name: "ExecutionAlreadyExists", message: `Execution Already Exists: '${EXECUTION}:one'` };
    await expect(client.send(start("one", '{"a":2}'))).rejects.toMatchObject(refused);
    held.release();
    await live.idle();
    await expect(client.send(start("one", '{"a":1}'))).rejects.toMatchObject(refused);
  });

  it("accepts the name of an ended execution for a new execution after ninety days", async () => {
    const clock = virtualClock();
    const { client, live } = await testServer({ clock });
    await createFlow(client);
    await client.send(start("one", '{"a":1}'));
    await live.idle();
    await clock.sleep(90 * 24 * 3600 * 1000);
    await client.send(start("one", '{"a":2}'));
    await live.idle();
    expect((await client.send(describeRun("one"))).output).toBe('{"a":2}');
  });

  it.each([
    [
      "a text that is not JSON",
      "InvalidExecutionInput",
      "one",
      "not json",
      /^Invalid State Machine Execution Input: '/,
    ],
    ["an empty input", "InvalidExecutionInput", "one", "", /'Invalid execution input.'/],
    ["an invalid name", "InvalidName", "two words", "{}", /^Invalid Name: 'two words'$/],
    [
      "more than 256 KiB",
      "ValidationException",
      "one",
      `"${"x".repeat(DATA_LIMIT_BYTES)}"`,
      /less than or equal to 262144/,
    ],
  ])("refuses %s with %s", async (_what, name, execution, input, message) => {
    const { client } = await testServer();
    await createFlow(client);
    await expect(client.send(start(execution, input))).rejects.toMatchObject({
      name,
      message: expect.stringMatching(message),
    });
  });

  it.each(["1", '"text"', "null", "[]"])("accepts any JSON as input: %s", async (input) => {
    const { client, live } = await testServer();
    await createFlow(client);
    await client.send(start("one", input));
    await live.idle();
    expect((await client.send(describeRun("one"))).output).toBe(input);
  });
});

describe("the end of an execution of the local Step Functions", () => {
  it("is reported by DescribeExecution and by the status event with error and cause if it is a failure", async () => {
    const { client, live, changes } = await testServer({ invokeLambda: async () => failure("Broken", "why") });
    await createFlow(client, invokes);
    await client.send(start("one"));
    await live.idle();
    const described = await client.send(describeRun("one"));
    expect(described).toMatchObject({
      status: "FAILED",
      error: "Broken",
      cause: expect.stringContaining('"errorMessage":"why"'),
    });
    expect(described.output).toBeUndefined();
    expect(changes).toMatchObject([{ status: "FAILED", error: "Broken", cause: described.cause, output: null }]);
  });

  it("is stored even if the listener of status changes throws an error, which causes only a warning", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const { client, live } = await testServer({
      onStatusChange: async () => {
        throw new TypeError("no listener");
      },
    });
    await createFlow(client);
    await client.send(start("one"));
    await live.idle();
    expect((await client.send(describeRun("one"))).status).toBe("SUCCEEDED");
    expect((await warned).message).toContain(
      'The status change of execution "one" was not taken: TypeError: no listener',
    );
  });
});

describe("StopExecution", () => {
  it("aborts the running task and ends the execution as ABORTED, and a second call changes nothing", async () => {
    const held = heldLambda();
    const { client, changes, live } = await testServer({ invokeLambda: held.invokeLambda });
    await createFlow(client, invokes);
    await client.send(start("one"));
    const { signal } = await held.called;
    const stop = new StopExecutionCommand({
      executionArn: `${EXECUTION}:one`,
      error: "Cancelled",
      cause: "by a person",
    });
    const stopped = await client.send(stop);
    expect(signal?.aborted).toBe(true);
    expect(await client.send(describeRun("one"))).toMatchObject({
      status: "ABORTED",
      stopDate: stopped.stopDate,
      error: "Cancelled",
      cause: "by a person",
    });
    expect((await client.send(stop)).stopDate).toEqual(stopped.stopDate);
    await live.idle();
    expect(changes).toMatchObject([{ status: "ABORTED", error: "Cancelled" }]);
  });

  it("does not wait for the listener of status changes, which may itself call StopExecution", async () => {
    const held = heldLambda();
    const stopAgain = () => server.client.send(new StopExecutionCommand({ executionArn: `${EXECUTION}:one` }));
    const server = await testServer({
      invokeLambda: held.invokeLambda,
      onStatusChange: async () => void (await stopAgain()),
    });
    await createFlow(server.client, invokes);
    await server.client.send(start("one"));
    await held.called;
    await stopAgain();
    await server.live.idle();
  });
});

describe("ListExecutions", () => {
  it("returns executions by status and page by page, the latest first", async () => {
    const held = heldLambda();
    const { client } = await testServer({ invokeLambda: held.invokeLambda });
    await createFlow(client, invokes);
    for (const name of ["a", "b", "c", "d"]) await client.send(start(name));
    await client.send(new StopExecutionCommand({ executionArn: `${EXECUTION}:b` }));
    const list = async (fields: object) => {
      const answer = await client.send(new ListExecutionsCommand({ stateMachineArn: MACHINE, ...fields }));
      return { names: answer.executions?.map(({ name }) => name), nextToken: answer.nextToken };
    };
    expect((await list({})).names).toEqual(["d", "c", "b", "a"]);
    expect((await list({ statusFilter: ExecutionStatus.ABORTED })).names).toEqual(["b"]);
    const first = await list({ maxResults: 2 });
    await client.send(start("e"));
    expect(await list({ maxResults: 2, nextToken: first.nextToken })).toEqual({
      names: ["b", "a"],
      nextToken: undefined,
    });
    const otherQuestion = list({ statusFilter: ExecutionStatus.RUNNING, nextToken: first.nextToken });
    await expect(otherQuestion).rejects.toMatchObject({ name: "InvalidToken" });
  });

  it("refuses a status that does not exist", async () => {
    const { client } = await testServer();
    await createFlow(client);
    const list = new ListExecutionsCommand({ stateMachineArn: MACHINE, statusFilter: "succeeded" as "SUCCEEDED" });
    await expect(client.send(list)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("Value 'succeeded' at 'statusFilter' failed to satisfy constraint"),
    });
  });
});

describe("ListExecutions of a Map Run", () => {
  it("is refused, because the executions of its items are not stored", async () => {
    const { client } = await testServer();
    const mapRunArn = "arn:aws:states:us-east-1:000000000000:mapRun:flow/first:1";
    await expect(client.send(new ListExecutionsCommand({ mapRunArn }))).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("keeps no executions of a Map Run"),
    });
  });
});

describe("an ended execution of the local Step Functions", () => {
  it.each([
    ["succeeded", passes, "Execution is SUCCEEDED and cannot be redriven"],
    ["failed", fails, "The local Step Functions redrives nothing: start a new execution"],
  ])("cannot be redriven after it %s", async (_, definition, reason) => {
    const { client, live } = await testServer();
    await createFlow(client, definition);
    await client.send(start("one"));
    await live.idle();
    const redriveStatus = { redriveStatus: "NOT_REDRIVABLE", redriveStatusReason: reason };
    expect(await client.send(describeRun("one"))).toMatchObject(redriveStatus);
  });
});

describe("GetExecutionHistory", () => {
  it("returns the events in order, in reverse and page by page", async () => {
    const { client, live } = await testServer();
    await createFlow(client, invokes);
    await client.send(start("one", '{"secret":1}'));
    await live.idle();
    const ids = async (fields: object) => (await client.send(historyOf("one", fields))).events?.map(({ id }) => id);
    expect(await ids({})).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await ids({ reverseOrder: true })).toEqual([7, 6, 5, 4, 3, 2, 1]);
    const { events, nextToken } = await client.send(historyOf("one", { maxResults: 5 }));
    expect(events?.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(await ids({ maxResults: 5, nextToken })).toEqual([6, 7]);
    expect(JSON.stringify(events)).toContain("secret");
  });

  it("returns the events so far while the execution runs", async () => {
    const held = heldLambda();
    const { client } = await testServer({ invokeLambda: held.invokeLambda });
    await createFlow(client, invokes);
    await client.send(start("one"));
    await held.called;
    const { events } = await client.send(historyOf("one"));
    expect(events?.at(-1)?.type).toBe("LambdaFunctionStarted");
    expect(events?.[0]?.timestamp).toBeInstanceOf(Date);
  });
});

describe("a request about an execution to the local Step Functions", () => {
  it.each([
    ["ExecutionDoesNotExist", `${EXECUTION}:none`, `Execution Does Not Exist: '${EXECUTION}:none'`],
    ["InvalidArn", "nonsense", "Invalid Arn: 'Invalid ARN prefix: nonsense'"],
    ["InvalidArn", MACHINE, "Invalid Arn: 'Resource type not valid in this context: stateMachine'"],
  ])("gets the error %s from every operation if it names %s", async (name, executionArn, message) => {
    const { client } = await testServer();
    const asked = [
      client.send(new DescribeExecutionCommand({ executionArn })),
      client.send(new GetExecutionHistoryCommand({ executionArn })),
      client.send(new StopExecutionCommand({ executionArn })),
    ];
    for (const answer of asked) await expect(answer).rejects.toMatchObject({ name, message });
  });
});
