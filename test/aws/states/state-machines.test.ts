import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DescribeStateMachineCommand } from "@aws-sdk/client-sfn";
import type { StateMachines } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sfnClient } from "../../../packages/aws/src/clients/clients.ts";
import {
  createMachineVersions,
  createStateMachines,
  executionArn,
  executionPageUrl,
  stateMachineArn,
  stateMachineName,
} from "../../../packages/aws/src/states/state-machines.ts";
import { openStates, type States } from "../../../packages/aws-local/src/states/open-states.ts";

const definition = (comment: string) =>
  JSON.stringify({
    Comment: comment,
    StartAt: "work",
    States: { work: { Type: "Task", Resource: "arn:aws:lambda:us-east-1:000000000000:function:work", End: true } },
  });

let machines: StateMachines;
let states: States;
let dataDir: string;
/** The Lambda function of the running test. */
let work: (payload: string) => Promise<string>;
const client = sfnClient();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-states-"));
  states = await openStates({
    dataDir,
    accessKeyId: "test-key",
    secretAccessKey: "test-secret",
    invokeLambda: async (_, payload) => ({ ok: true, payload: await work(payload) }),
    onStatusChange: () => undefined,
  });
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test-key",
    AWS_SECRET_ACCESS_KEY: "test-secret",
    AWS_ENDPOINT_URL_SFN: states.url,
  });
  machines = createStateMachines({ client, roleArn: "arn:aws:iam::000000000000:role/nova" });
});

afterAll(async () => {
  client.destroy();
  await states.close();
  await rm(dataDir, { recursive: true });
});

const machineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:nova-invoice";

describe("the publication of a state machine", () => {
  test("creates the machine with the first version of a workflow, and adds a version for each change", async () => {
    expect(await machines.publish("nova-invoice", definition("one"), "first")).toBe(`${machineArn}:1`);
    expect(await machines.publish("nova-invoice", definition("two"), "second")).toBe(`${machineArn}:2`);
  });

  test("turns on traces and logs of failures, without the data of runs, if there is a log group", async () => {
    const logGroupArn = "arn:aws:logs:us-east-1:000000000000:log-group:/aws/vendedlogs/states/nova:*";
    const roleArn = "arn:aws:iam::000000000000:role/nova";
    await createStateMachines({ client, roleArn, logGroupArn }).publish("nova-logged", definition("x"), "first");
    const stateMachineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:nova-logged";
    expect(await client.send(new DescribeStateMachineCommand({ stateMachineArn }))).toMatchObject({
      loggingConfiguration: {
        level: "ERROR",
        includeExecutionData: false,
        destinations: [{ cloudWatchLogsLogGroup: { logGroupArn } }],
      },
      tracingConfiguration: { enabled: true },
    });
  });

  test("shortens a description that is too long for a version", async () => {
    expect(await machines.publish("nova-described", definition("x"), "é".repeat(1000))).toMatch(/nova-described:1$/);
  });
});

describe("an execution of Step Functions", () => {
  let arn: string;
  beforeAll(async () => {
    arn = await machines.publish("nova-run", definition("run"), "run");
  });

  test("is started once for each name, even if its start is repeated while it runs or after its end", async () => {
    let release = (_: string) => {};
    const inputs: string[] = [];
    work = (payload) => {
      inputs.push(payload);
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    await machines.start(arn, "exec_once", '{"n":1}');
    await machines.start(arn, "exec_once", '{"n":1}');
    expect(await machines.describe(arn, "exec_once")).toEqual({ status: "running" });
    expect(Array.from(await machines.running(arn))).toEqual(["exec_once"]);
    await expect.poll(() => inputs).toEqual(['{"n":1}']);
    release("{}");
    await states.live.idle();
    await machines.start(arn, "exec_once", '{"n":1}');
    expect(inputs).toHaveLength(1);
    expect(await machines.describe(arn, "exec_once")).toEqual({ status: "succeeded" });
    expect(Array.from(await machines.running(arn))).toEqual([]);
  });

  test("is not started under the name of an execution with another input", async () => {
    work = async () => "{}";
    await machines.start(arn, "exec_taken", '{"n":1}');
    await expect(machines.start(arn, "exec_taken", '{"n":2}')).rejects.toThrow(
      /"exec_taken" exists with another input/,
    );
  });

  test("is stopped with an error and a cause, and a second stop succeeds", async () => {
    work = () => new Promise(() => {});
    await machines.start(arn, "exec_stopped", "{}");
    await machines.stop(arn, "exec_stopped", "Cancelled", "by hand");
    await machines.stop(arn, "exec_stopped", "Cancelled", "again");
    expect(await machines.describe(arn, "exec_stopped")).toEqual({
      status: "aborted",
      error: "Cancelled",
      cause: "by hand",
    });
  });

  test("continues with the first answer to its task token, and ignores a second answer", async () => {
    const waits = JSON.stringify({
      StartAt: "ask",
      States: {
        ask: {
          Type: "Task",
          Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
          Parameters: {
            FunctionName: "arn:aws:lambda:us-east-1:000000000000:function:nova-ask",
            Payload: { "token.$": "$$.Task.Token" },
          },
          End: true,
        },
      },
    });
    const asked = Promise.withResolvers<string>();
    work = async (payload) => {
      asked.resolve(JSON.parse(payload).token);
      return "{}";
    };
    const waiting = await machines.publish("nova-waits", waits, "waits");
    await machines.start(waiting, "exec_waits", "{}");
    const token = await asked.promise;
    expect(await machines.answerTask(token, '{"n":1}')).toBe(true);
    await states.live.idle();
    expect(await machines.describe(waiting, "exec_waits")).toEqual({ status: "succeeded" });
    expect(await machines.answerTask(token, '{"n":1}')).toBe(false);
    expect(await machines.answerTask("never given out", "{}")).toBe(false);
  });

  test("is described as null if it does not exist, and a stop then succeeds", async () => {
    expect(await machines.describe(arn, "exec_none")).toBeNull();
    await machines.stop(arn, "exec_none", "Cancelled", "by hand");
  });
});

test("names of state machines have at most 80 characters and stay unique", () => {
  const ids = ["a", "b"].map((last) => `nova-${"long-".repeat(20)}${last}`);
  const names = ids.map(stateMachineName);
  expect(names.map(({ length }) => length)).toEqual([80, 80]);
  expect(names[0]).not.toBe(names[1]);
  for (const fitting of ["nova-invoice", "x".repeat(80)]) expect(stateMachineName(fitting)).toBe(fitting);
});

test("ARNs that NOVA computes have the partition and the account of the role", () => {
  const role = "arn:aws-us-gov:iam::123456789012:role/nova";
  const machine = stateMachineArn(role, "us-gov-west-1", "nova-invoice");
  expect(machine).toBe("arn:aws-us-gov:states:us-gov-west-1:123456789012:stateMachine:nova-invoice");
  expect(executionArn(`${machine}:7`, "exec_01")).toBe(
    "arn:aws-us-gov:states:us-gov-west-1:123456789012:execution:nova-invoice:exec_01",
  );
});

test.each([
  ["aws", "eu-west-1", "eu-west-1.console.aws.amazon.com"],
  ["aws-us-gov", "us-gov-west-1", "console.amazonaws-us-gov.com"],
  ["aws-cn", "cn-north-1", "console.amazonaws.cn"],
])("the AWS console of partition %s has a page for an execution", (partition, region, host) => {
  const arn = `arn:${partition}:states:${region}:123456789012:execution:nova-invoice:exec_01.2`;
  expect(executionPageUrl(arn)).toBe(`https://${host}/states/home?region=${region}#/v2/executions/details/${arn}`);
});

test.each([
  ["an execution of the local cloud", "arn:aws:states:us-east-1:000000000000:execution:nova-invoice:exec_01"],
  [
    "an execution of an unknown partition",
    "arn:aws-iso:states:us-iso-east-1:123456789012:execution:nova-invoice:exec_01",
  ],
  ["the ARN of a state machine", "arn:aws:states:us-east-1:123456789012:stateMachine:nova-invoice"],
  ["a name with markup", 'arn:aws:states:us-east-1:123456789012:execution:nova:e"><script>'],
])("the AWS console has no page for %s", (_, arn) => {
  expect(executionPageUrl(arn)).toBeNull();
});

describe("the versions of a state machine", () => {
  const versions = createMachineVersions(() => client);
  const arns: string[] = [];

  beforeAll(async () => {
    for (const comment of ["one", "two", "three"])
      arns.unshift(await machines.publish("nova-versions", definition(comment), comment));
  });

  test("are listed newest first for the ARN of any version", async () => {
    for (const arn of arns) expect(await versions.list(arn)).toEqual(arns);
  });

  test("can be removed repeatedly, and are not listed after their removal", async () => {
    const [newest = "", middle = "", oldest = ""] = arns;
    await versions.remove(middle);
    await versions.remove(middle);
    expect(await versions.list(newest)).toEqual([newest, oldest]);
  });
});
