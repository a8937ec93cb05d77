import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { FUNCTION } from "../support/run.ts";
import { EXECUTION, MACHINE, ROLE, testServer } from "../support/server.ts";

const waits = JSON.stringify({
  StartAt: "S",
  States: {
    S: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: FUNCTION, Payload: { "token.$": "$$.Task.Token" } },
      End: true,
    },
  },
});

/** Starts an execution whose task waits for an answer. Returns the token of that task. */
async function waitingRun() {
  const token = Promise.withResolvers<string>();
  const server = await testServer({
    invokeLambda: async (_arn, payload) => {
      token.resolve((JSON.parse(payload) as { token: string }).token);
      return { ok: true, payload: "null" };
    },
  });
  await server.client.send(new CreateStateMachineCommand({ name: "flow", definition: waits, roleArn: ROLE }));
  await server.client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: "one" }));
  const outcome = async () => {
    await server.live.idle();
    return server.client.send(new DescribeExecutionCommand({ executionArn: `${EXECUTION}:one` }));
  };
  return { ...server, taskToken: await token.promise, outcome };
}

describe("task tokens of the local Step Functions", () => {
  it("let a waiting execution succeed if a client sends them with SendTaskSuccess", async () => {
    const { client, taskToken, outcome } = await waitingRun();
    await client.send(new SendTaskSuccessCommand({ taskToken, output: '{"ok":true}' }));
    expect(await outcome()).toMatchObject({ status: "SUCCEEDED", output: '{"ok":true}' });
  });

  it("let a waiting execution fail if a client sends them with SendTaskFailure", async () => {
    const { client, taskToken, outcome } = await waitingRun();
    await client.send(new SendTaskFailureCommand({ taskToken, error: "Refused", cause: "no" }));
    expect(await outcome()).toMatchObject({ status: "FAILED", error: "Refused", cause: "no" });
  });

  it("are valid for one answer only", async () => {
    const { client, taskToken } = await waitingRun();
    await client.send(new SendTaskSuccessCommand({ taskToken, output: "1" }));
    const gone = { name: "TaskTimedOut", message: "Task Timed Out: 'Provided task does not exist anymore'" };
    await expect(client.send(new SendTaskSuccessCommand({ taskToken, output: "2" }))).rejects.toMatchObject(gone);
    await expect(client.send(new SendTaskFailureCommand({ taskToken }))).rejects.toMatchObject(gone);
  });

  it("are refused as invalid if they were never issued", async () => {
    const { client } = await testServer();
    const forged = client.send(new SendTaskSuccessCommand({ taskToken: "forged", output: "1" }));
    await expect(forged).rejects.toMatchObject({ name: "InvalidToken", message: "Invalid Token: 'Invalid token'" });
  });

  it("stay valid after an answer that is not JSON was refused", async () => {
    const { client, taskToken, outcome } = await waitingRun();
    const broken = client.send(new SendTaskSuccessCommand({ taskToken, output: "{" }));
    await expect(broken).rejects.toMatchObject({ name: "InvalidOutput" });
    await client.send(new SendTaskSuccessCommand({ taskToken, output: "1" }));
    expect(await outcome()).toMatchObject({ output: "1" });
  });
});
