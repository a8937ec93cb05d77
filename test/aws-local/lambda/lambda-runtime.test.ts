import { describe, expect, it } from "vitest";
import {
  createLambdaRuntime,
  type LambdaContext,
  type LambdaFunction,
  PAYLOAD_LIMIT_BYTES,
} from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import { virtualClock } from "../states/support/virtual-clock.ts";

const ARN = "arn:aws:lambda:us-east-1:000000000000:function:work";

function runtime(handler: LambdaFunction["handler"], timeoutSeconds = 3) {
  return createLambdaRuntime({ work: { handler, timeoutSeconds } }, virtualClock());
}

describe("an invocation of a local Lambda function", () => {
  it.each([ARN, `${ARN}:live`, `${ARN}:$LATEST`, `${ARN}:7`])("with the ARN %s finds the function", async (arn) => {
    expect(await runtime(async (event) => event)(arn, '{"a":[1]}')).toEqual({ ok: true, payload: '{"a":[1]}' });
  });

  it.each([
    "arn:aws:lambda:us-east-1:000000000000:function:other",
    "work",
    `${ARN}:live:live`,
    "arn:aws:lambda:us-east-1:000000000000:function:toString",
  ])("with the ARN %s finds no function", async (arn) => {
    const invocation = runtime(async () => null)(arn, "{}");
    await expect(invocation).rejects.toMatchObject({
      name: "Lambda.ResourceNotFoundException",
      message: `Function not found: ${arn}`,
    });
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "null"],
    ["a date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["an object with values that JSON leaves out", { a: undefined, f: () => 1, n: Number.NaN }, '{"n":null}'],
  ])("whose handler returns %s has the JSON text of that value as its result", async (_name, value, payload) => {
    expect(await runtime(async () => value)(ARN, "{}")).toEqual({ ok: true, payload });
  });

  it("gives each handler its own event", async () => {
    const invoke = runtime(async (event) => {
      const { list } = event as { list: number[] };
      list.push(2);
      return list;
    });
    const payload = '{"list":[1]}';
    expect(await invoke(ARN, payload)).toEqual(await invoke(ARN, payload));
  });

  it("gives the handler the name and ARN of the function, and the time that remains", async () => {
    const seen: LambdaContext[] = [];
    const invoke = runtime(async (_event, context) => {
      seen.push(context);
      return context.getRemainingTimeInMillis();
    }, 30);
    expect(await invoke(`${ARN}:live`, "{}")).toEqual({ ok: true, payload: "30000" });
    await invoke(ARN, "{}");
    expect(seen[0]).toMatchObject({
      functionName: "work",
      invokedFunctionArn: `${ARN}:live`,
      functionVersion: "$LATEST",
    });
    expect(seen[0]?.awsRequestId).not.toBe(seen[1]?.awsRequestId);
  });
});

describe("an invocation of a local Lambda function fails", () => {
  it("with the name, the message and the stack trace of an error that its handler throws", async () => {
    const invoke = runtime(async () => {
      throw Object.assign(new Error("no dice"), { name: "NodeFailed" });
    });
    expect(await invoke(ARN, "{}")).toEqual({
      ok: false,
      errorType: "NodeFailed",
      errorMessage: "no dice",
      trace: expect.arrayContaining([expect.stringContaining("lambda-runtime.test.ts")]),
    });
  });

  it.each<[string, () => Promise<unknown>, object]>([
    [
      "throws a string",
      () => Promise.reject("just text"),
      { errorType: "string", errorMessage: "just text", trace: [] },
    ],
    ["returns a value with a cycle", async () => cycle(), { errorType: "Runtime.MarshalError" }],
    ["returns a bigint", async () => 1n, { errorType: "Runtime.MarshalError" }],
    [
      "returns more than 6 MB",
      async () => "x".repeat(PAYLOAD_LIMIT_BYTES + 200),
      { errorType: "Function.ResponseSizeTooLarge" },
    ],
  ])("if its handler %s", async (_name, handler, expected) => {
    expect(await runtime(handler)(ARN, "{}")).toMatchObject({ ok: false, ...expected });
  });

  it("after its timeout, as in AWS, and a later result of its handler is dropped", async () => {
    const invoke = runtime(() => new Promise(() => {}), 3);
    expect(await invoke(ARN, "{}")).toEqual({
      ok: false,
      errorType: "Sandbox.Timedout",
      errorMessage: expect.stringMatching(/^RequestId: [\da-f-]{36} Error: Task timed out after 3\.00 seconds$/),
      trace: [],
    });
  });
});

describe("the local Lambda service", () => {
  it("refuses a request of more than 6 MB", async () => {
    const invocation = runtime(async () => null)(ARN, JSON.stringify("x".repeat(PAYLOAD_LIMIT_BYTES)));
    await expect(invocation).rejects.toMatchObject({ name: "Lambda.RequestTooLargeException" });
  });

  it("reports a killed invocation as Lambda.Unknown", async () => {
    const kill = new AbortController();
    const invocation = runtime(() => new Promise(() => setImmediate(() => kill.abort())))(ARN, "{}", kill.signal);
    await expect(invocation).rejects.toMatchObject({ name: "Lambda.Unknown" });
    const dead = runtime(async () => 1)(ARN, "{}", kill.signal);
    await expect(dead).rejects.toMatchObject({ name: "Lambda.Unknown" });
  });
});

function cycle(): object {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}
