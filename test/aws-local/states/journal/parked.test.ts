import { SendTaskFailureCommand, StartExecutionCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../packages/aws-local/src/lambda-types.ts";
import {
  asks,
  begun,
  historyOf,
  input,
  inRow,
  keeper,
  reopened,
  rested,
  standing,
  succeed,
  works,
} from "../support/parked.ts";
import { answer, failure } from "../support/run.ts";
import { EXECUTION, MACHINE } from "../support/server.ts";
import { virtualClock } from "../support/virtual-clock.ts";

describe("an execution that waits for an answer", () => {
  it("continues in the next process, from the same state", async () => {
    const { tokenOf, payloads, invokeLambda } = keeper();
    const definition = inRow({ Before: works, Ask: { ...asks, ResultPath: "$.answer" }, After: works });
    const second = await reopened(await rested(definition, { invokeLambda }), { invokeLambda });
    expect(second.interrupted).toEqual([]);
    expect(await standing(second)).toMatchObject({ status: "RUNNING", input: '{"n":1}' });
    await second.client.send(succeed(tokenOf(input)));
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED", output: '{"n":1,"answer":"yes"}' });
    expect(payloads).toEqual([input, { token: tokenOf(input), of: input }, { n: 1, answer: "yes" }]);
    expect(second.changes).toMatchObject([{ name: "one", status: "SUCCEEDED", input: '{"n":1}' }]);
  });

  it("has one continuous history over several processes", async () => {
    const { tokenOf, invokeLambda } = keeper();
    const first = await rested(inRow({ One: asks, Two: asks }), { invokeLambda });
    await first.client.send(succeed(tokenOf(input)));
    await first.live.idle();
    const before = await historyOf(first);
    const second = await reopened(first, { invokeLambda });
    await second.client.send(succeed(tokenOf("yes")));
    await second.live.idle();
    const after = await historyOf(second);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ id }) => id)).toEqual(after.map((_, i) => i + 1));
    expect(after.at(-1)?.type).toBe("ExecutionSucceeded");
  });

  it("gets the error of SendTaskFailure in the next process, and its Catch handles the error there", async () => {
    const { tokenOf, invokeLambda } = keeper();
    const caught = { ...asks, Catch: [{ ErrorEquals: ["Refused"], Next: "After" }] };
    const first = await rested(inRow({ Ask: caught, After: works }), { invokeLambda });
    const second = await reopened(first, { invokeLambda });
    const refusal = { taskToken: tokenOf(input), error: "Refused", cause: "no" };
    await second.client.send(new SendTaskFailureCommand(refusal));
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED", output: '{"Error":"Refused","Cause":"no"}' });
  });

  it("is aborted as interrupted if the process dies during the Lambda function that follows the answer", async () => {
    const { tokenOf, invokeLambda: keep } = keeper();
    const called = Promise.withResolvers<void>();
    const invokeLambda: InvokeLambda = (arn, payload) => {
      if (payload.includes("token")) return keep(arn, payload);
      called.resolve();
      return new Promise(() => {});
    };
    const first = await rested(inRow({ Ask: asks, Hang: works }), { invokeLambda });
    await first.client.send(succeed(tokenOf(input)));
    await called.promise;
    expect((await reopened(first)).interrupted).toEqual(["one"]);
  });

  it("takes one answer, and refuses every later answer as expired", async () => {
    const { tokenOf, invokeLambda } = keeper();
    const second = await reopened(await rested(inRow({ Ask: asks }), { invokeLambda }), { invokeLambda });
    const taskToken = tokenOf(input);
    await second.client.send(succeed(taskToken));
    const gone = { name: "TaskTimedOut" };
    await expect(second.client.send(succeed(taskToken))).rejects.toMatchObject(gone);
    await expect(second.client.send(new SendTaskFailureCommand({ taskToken }))).rejects.toMatchObject(gone);
  });

  it("can be stopped in the next process", async () => {
    const second = await reopened(await rested(inRow({ Ask: asks }), keeper()));
    await second.client.send(new StopExecutionCommand({ executionArn: `${EXECUTION}:one`, error: "Enough" }));
    expect(await standing(await reopened(second))).toMatchObject({ status: "ABORTED", error: "Enough" });
  });

  it("is returned to a client that starts it again with the same input", async () => {
    const { client } = await reopened(await rested(inRow({ Ask: asks }), keeper()));
    const again = (text: string) => new StartExecutionCommand({ stateMachineArn: MACHINE, name: "one", input: text });
    await client.send(again('{"n":1}'));
    await expect(client.send(again("{}"))).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
  });
});

describe("the branches and iterations of an execution that waits", () => {
  it("keep their results, retries and current states from process to process", async () => {
    const { tokenOf, payloads, invokeLambda: keep } = keeper();
    const flaky = '{"of":"flaky"}';
    const invokeLambda: InvokeLambda = async (arn, payload) => {
      const isSecond = payloads.push(payload) > 1;
      return payload === flaky && !isSecond ? failure("Busy") : keep(arn, payload);
    };
    const retries = { Retry: [{ ErrorEquals: ["Busy"], IntervalSeconds: 1, MaxAttempts: 1 }] };
    const each = { Type: "Map", ItemsPath: "$.items", MaxConcurrency: 2, ItemProcessor: inRow({ Item: asks }) };
    const branches = [
      { Done: { Type: "Pass", Result: "done" } },
      { Flaky: { ...works, Parameters: { "of.$": "$.flaky" }, OutputPath: "$.of", ...retries }, Ask: asks },
      { each },
    ];
    const fork = { Type: "Parallel", Branches: branches.map(inRow) };
    const clock = virtualClock();
    let server = await rested(inRow({ fork }), { clock, invokeLambda, input: { flaky: "flaky", items: [1, 2, 3] } });
    for (const of of [2, 3, "flaky", 1]) {
      server = await reopened(server, { clock, invokeLambda });
      await server.client.send(succeed(tokenOf(of), `answer ${of}`));
      await server.live.idle();
    }
    const { status, output } = await standing(server);
    const expected = ["done", "answer flaky", ["answer 1", "answer 2", "answer 3"]];
    expect([status, JSON.parse(output ?? "null")]).toEqual(["SUCCEEDED", expected]);
    expect(payloads.filter((payload) => payload === flaky)).toHaveLength(2);
  });
});

describe("a Lambda function that gets a task token", () => {
  it.each([
    ["is called a second time with the same token if the process dies while it runs", false],
    ["can get the answer to its token before it ends, and the answer is kept if the process ends", true],
  ])("loses nothing if its process dies: it %s", async (_, early) => {
    const called = Promise.withResolvers<string>();
    const never: InvokeLambda = (_arn, payload) => {
      called.resolve(payload);
      return new Promise(() => {});
    };
    const first = await begun(inRow({ Ask: asks }), { invokeLambda: never });
    const payload = await called.promise;
    const { token } = JSON.parse(payload);
    if (early) await first.client.send(succeed(token));
    const again: string[] = [];
    const second = await reopened(first, {
      invokeLambda: async (_arn, once) => {
        again.push(once);
        return answer(null);
      },
    });
    await second.live.idle();
    if (!early) await second.client.send(succeed(token));
    expect(await standing(second)).toMatchObject({ status: "SUCCEEDED", output: '"yes"' });
    expect(again).toEqual([payload]);
  });
});
