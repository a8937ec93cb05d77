import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachineVersionsCommand,
  type SFNClient,
  StartExecutionCommand,
  UpdateStateMachineCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { EXECUTION, heldLambda, invokes, MACHINE, passes, ROLE, testServer } from "./support/server.ts";

const create = new CreateStateMachineCommand({ name: "flow", definition: passes, roleArn: ROLE, publish: true });
const start = (name: string) => new StartExecutionCommand({ stateMachineArn: MACHINE, name, input: '{"x":1}' });

/** Returns everything that the API says about an execution, without request ids. */
async function tell(client: SFNClient, name: string) {
  const executionArn = `${EXECUTION}:${name}`;
  const answers = [
    await client.send(new DescribeExecutionCommand({ executionArn })),
    await client.send(new GetExecutionHistoryCommand({ executionArn })),
    await client.send(new ListExecutionsCommand({ stateMachineArn: MACHINE })),
    await client.send(new DescribeStateMachineCommand({ stateMachineArn: `${MACHINE}:1` })),
    await client.send(new ListStateMachineVersionsCommand({ stateMachineArn: MACHINE })),
  ];
  return answers.map(({ $metadata: _metadata, ...rest }) => rest);
}

/**
 * Returns a server that was closed while an execution ran a function. The data folder keeps everything that was written
 * until then.
 */
async function diedRunning() {
  const held = heldLambda();
  const server = await testServer({ invokeLambda: held.invokeLambda });
  await server.client.send(create);
  await server.client.send(new UpdateStateMachineCommand({ stateMachineArn: MACHINE, definition: invokes }));
  await server.client.send(start("one"));
  await held.called;
  await server.close();
  return server;
}

describe("the data folder of the local Step Functions", () => {
  it("contains the same state machines and executions when it is opened again", async () => {
    const first = await testServer();
    await first.client.send(create);
    await first.client.send(start("one"));
    await first.client.send(
      new UpdateStateMachineCommand({ stateMachineArn: MACHINE, definition: invokes, publish: true }),
    );
    await first.client.send(start("two"));
    await first.live.idle();
    const told = [await tell(first.client, "one"), await tell(first.client, "two")];
    await first.close();
    const second = await testServer({ dataDir: first.dataDir });
    expect(second.interrupted).toEqual([]);
    expect([await tell(second.client, "one"), await tell(second.client, "two")]).toEqual(told);
    await expect(second.client.send(start("one"))).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
  });

  it("keeps the events of interrupted executions, and these executions are reported at its next opening", async () => {
    const first = await diedRunning();
    expect(first.changes).toEqual([]);
    const second = await testServer({ dataDir: first.dataDir });
    expect(second.interrupted).toEqual(["one"]);
    expect(second.changes).toEqual([]);
    const executionArn = `${EXECUTION}:one`;
    expect(await second.client.send(new DescribeExecutionCommand({ executionArn }))).toMatchObject({
      status: "ABORTED",
      error: "Interrupted",
      cause: "The local cloud stopped while this execution was running.",
      input: '{"x":1}',
    });
    const { events } = await second.client.send(new GetExecutionHistoryCommand({ executionArn }));
    expect(events?.map(({ type }) => type)).toEqual([
      "ExecutionStarted",
      "TaskStateEntered",
      "LambdaFunctionScheduled",
      "LambdaFunctionStarted",
      "ExecutionAborted",
    ]);
    await second.close();
    expect((await testServer({ dataDir: first.dataDir })).interrupted).toEqual([]);
  });

  it("is readable after a crash has left incomplete lines", async () => {
    const first = await diedRunning();
    const folder = join(first.dataDir, "states");
    for (const file of ["executions.ndjson", "machines.ndjson", "history/0.ndjson"])
      appendFileSync(join(folder, file), '{"half');
    const second = await testServer({ dataDir: first.dataDir });
    expect(second.interrupted).toEqual(["one"]);
    await second.client.send(start("two"));
    await second.live.idle();
    const told = await tell(second.client, "one");
    await second.close();
    const third = await testServer({ dataDir: first.dataDir });
    expect(third.interrupted).toEqual([]);
    expect(await tell(third.client, "one")).toEqual(told);
  });

  it("contains the end of an execution after its next opening, even if a process died before it wrote this end to the index", async () => {
    const first = await testServer();
    await first.client.send(create);
    await first.client.send(start("one"));
    await first.live.idle();
    await first.close();
    const index = join(first.dataDir, "states", "executions.ndjson");
    const lines = readFileSync(index, "utf8").split("\n");
    writeFileSync(index, `${lines[0]}\n`);
    const second = await testServer({ dataDir: first.dataDir });
    expect(second.interrupted).toEqual([]);
    const described = await second.client.send(new DescribeExecutionCommand({ executionArn: `${EXECUTION}:one` }));
    expect(described).toMatchObject({ status: "SUCCEEDED", output: '{"x":1}' });
  });

  it("contains the start of an execution before the client gets a response", async () => {
    const held = heldLambda();
    const { client, dataDir } = await testServer({ invokeLambda: held.invokeLambda });
    await client.send(new CreateStateMachineCommand({ name: "flow", definition: invokes, roleArn: ROLE }));
    await client.send(start("one"));
    const folder = join(dataDir, "states");
    expect(readFileSync(join(folder, "executions.ndjson"), "utf8")).toContain(`${EXECUTION}:one`);
    expect(readFileSync(join(folder, "history/0.ndjson"), "utf8")).toContain("ExecutionStarted");
  });

  it("contains the end of an execution before listeners receive the end", async () => {
    const told: string[] = [];
    const server = await testServer({
      onStatusChange() {
        told.push(readFileSync(join(server.dataDir, "states/history/0.ndjson"), "utf8"));
        told.push(readFileSync(join(server.dataDir, "states/executions.ndjson"), "utf8"));
      },
    });
    await server.client.send(create);
    await server.client.send(start("one"));
    await server.live.idle();
    expect(told).toEqual([
      expect.stringContaining("ExecutionSucceeded"),
      expect.stringContaining('"status":"SUCCEEDED"'),
    ]);
  });

  it("is opened without reading the histories of ended executions", async () => {
    const first = await testServer();
    await first.client.send(create);
    for (const name of ["one", "two"]) await first.client.send(start(name));
    await first.live.idle();
    await first.close();
    const histories = join(first.dataDir, "states", "history");
    for (const file of readdirSync(histories)) writeFileSync(join(histories, file), "not read\n");
    const second = await testServer({ dataDir: first.dataDir });
    const { executions } = await second.client.send(new ListExecutionsCommand({ stateMachineArn: MACHINE }));
    expect(executions?.map(({ status }) => status)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  });
});
