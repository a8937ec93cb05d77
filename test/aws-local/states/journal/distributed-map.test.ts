import { StopExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, it } from "vitest";
import { asks, begun, historyOf, inRow, keeper, reopened, rested, standing, succeed } from "../support/parked.ts";
import { EXECUTION } from "../support/server.ts";

const body = { ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" }, ...inRow({ Ask: asks }) };
const reader = {
  Resource: "arn:aws:states:::s3:getObject",
  ReaderConfig: { InputType: "JSON" },
  Parameters: { Bucket: "b", Key: "k" },
};
const all = inRow({ All: { Type: "Map", ItemReader: reader, ItemProcessor: body } });

it("items of a distributed Map that wait for answers continue in later processes, and only the first process reads the list of items", async () => {
  const { tokenOf, invokeLambda, payloads } = keeper();
  let reads = 0;
  const readObject = async () => `["a${++reads}","b","c"]`;
  const first = await rested(all, { invokeLambda, readObject });
  await first.client.send(succeed(tokenOf("b"), 2));
  const second = await reopened(first, { invokeLambda, readObject });
  await second.client.send(succeed(tokenOf("a1"), 1));
  const third = await reopened(second, { invokeLambda, readObject });
  await third.client.send(succeed(tokenOf("c"), 3));
  expect(await standing(third)).toMatchObject({ status: "SUCCEEDED", output: "[1,2,3]" });
  expect(payloads).toHaveLength(3);
  expect(third.interrupted).toEqual([]);
  expect((await historyOf(third)).map(({ type }) => type)).toEqual([
    "ExecutionStarted",
    "MapStateEntered",
    "MapStateStarted",
    "MapRunStarted",
    "MapRunSucceeded",
    "MapStateSucceeded",
    "MapStateExited",
    "ExecutionSucceeded",
  ]);
});

it("a request to stop an execution ends it even while it reads the list of a distributed Map", async () => {
  const called = Promise.withResolvers<void>();
  const readObject = () => {
    called.resolve();
    return new Promise<never>(() => undefined);
  };
  const server = await begun(all, { readObject });
  await called.promise;
  await server.client.send(new StopExecutionCommand({ executionArn: `${EXECUTION}:one` }));
  expect((await standing(server)).status).toBe("ABORTED");
  expect((await historyOf(server)).slice(-2).map(({ type }) => type)).toEqual(["MapRunAborted", "ExecutionAborted"]);
});
