import {
  CreateStateMachineCommand,
  type CreateStateMachineCommandInput,
  DeleteStateMachineCommand,
  DescribeStateMachineCommand,
  ListStateMachinesCommand,
  StartExecutionCommand,
  UpdateStateMachineCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { heldLambda, invokes, MACHINE, passes, ROLE, testServer } from "../support/server.ts";

const flow = { name: "flow", definition: passes, roleArn: ROLE };
const create = (fields: Partial<CreateStateMachineCommandInput> = {}) =>
  new CreateStateMachineCommand({ ...flow, ...fields });

describe("CreateStateMachine", () => {
  it("stores the fields of the state machine", async () => {
    const { client } = await testServer();
    const created = await client.send(create());
    expect(created).toMatchObject({ stateMachineArn: MACHINE, creationDate: expect.any(Date) });
    expect(created.stateMachineVersionArn).toBeUndefined();
    expect(await client.send(new DescribeStateMachineCommand({ stateMachineArn: MACHINE }))).toMatchObject({
      ...flow,
      stateMachineArn: MACHINE,
      status: "ACTIVE",
      type: "STANDARD",
      creationDate: created.creationDate,
      loggingConfiguration: { level: "OFF", includeExecutionData: false },
      tracingConfiguration: { enabled: false },
    });
  });

  it.each<[string, Partial<CreateStateMachineCommandInput>]>([
    ["with the same fields", {}],
    ["with another role", { roleArn: `${ROLE}2` }],
  ])("returns the existing state machine unchanged if the request is repeated %s", async (_name, fields) => {
    const { client } = await testServer();
    const first = await client.send(create());
    const second = await client.send(create(fields));
    expect([second.stateMachineArn, second.creationDate]).toEqual([first.stateMachineArn, first.creationDate]);
    expect((await client.send(new DescribeStateMachineCommand({ stateMachineArn: MACHINE }))).roleArn).toBe(ROLE);
  });

  it.each<[string, Partial<CreateStateMachineCommandInput>]>([
    ["definition", { definition: invokes }],
    ["format of the definition", { definition: `${passes} ` }],
    ["tracing", { tracingConfiguration: { enabled: true } }],
    ["logging", { loggingConfiguration: { level: "ALL" } }],
  ])("refuses the name of an existing state machine with another %s", async (_name, fields) => {
    const { client } = await testServer();
    await client.send(create());
    await expect(client.send(create(fields))).rejects.toMatchObject({
      name: "StateMachineAlreadyExists",
      message: `State Machine Already Exists: '${MACHINE}'`,
    });
  });

  it.each<[string, Partial<CreateStateMachineCommandInput>, RegExp]>([
    ["InvalidName", { name: "has space" }, /^Invalid Name: 'has space'$/],
    ["InvalidName", { name: "x".repeat(81) }, /^Invalid Name/],
    ["InvalidName", { name: "größe" }, /^Invalid Name/],
    ["InvalidName", { name: "a/b" }, /^Invalid Name/],
    ["InvalidArn", { roleArn: "nobody" }, /^Invalid Arn: 'Invalid ARN prefix: nobody'$/],
    ["InvalidDefinition", { definition: "{" }, /INVALID_JSON_DESCRIPTION/],
    ["InvalidDefinition", { definition: " " }, /SCHEMA_VALIDATION_FAILED: Definition must be a valid JSON object/],
    [
      "InvalidDefinition",
      { definition: '{"StartAt":"S"}' },
      /'SCHEMA_VALIDATION_FAILED: States is required at \/States'/,
    ],
    [
      "InvalidDefinition",
      { definition: passes.replace('"StartAt":"S"', '"StartAt":"T"') },
      /'MISSING_TRANSITION_TARGET: Missing 'StartAt' target: T at \/StartAt'/,
    ],
    [
      "InvalidDefinition",
      {
        definition: invokes.replace(
          "arn:aws:lambda:us-east-1:000000000000:function:work",
          "arn:aws:states:::sqs:sendMessage",
        ),
      },
      /name a Lambda function, lambda:invoke.waitForTaskToken or states:startExecution.sync:2 at \/States\/S\/Resource/,
    ],
    ["ValidationException", { versionDescription: "v" }, /only be set when publish is true/],
    ["ValidationException", { name: undefined as unknown as string }, /at 'name' .* must not be null/],
    ["ValidationException", { tags: [{ key: "a", value: "b" }] }, /keeps no tags/],
    ["StateMachineTypeNotSupported", { type: "EXPRESS" }, /STANDARD/],
  ])("returns the error %s for %j", async (name, fields, message) => {
    const { client } = await testServer();
    await expect(client.send(create(fields))).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
    expect((await client.send(new ListStateMachinesCommand({}))).stateMachines).toEqual([]);
  });
});

describe("UpdateStateMachine", () => {
  it("creates a new revision only if something has changed", async () => {
    const { client } = await testServer();
    await client.send(create());
    const update = (fields: object) =>
      client.send(new UpdateStateMachineCommand({ stateMachineArn: MACHINE, ...fields }));
    expect((await update({ definition: passes })).revisionId).toBeUndefined();
    const first = await update({ definition: invokes });
    const second = await update({ roleArn: `${ROLE}2` });
    expect(first.revisionId).toMatch(/^[\da-f-]{36}$/);
    expect(second.revisionId).not.toBe(first.revisionId);
    expect((await update({ definition: invokes })).revisionId).toBe(second.revisionId);
    const described = await client.send(new DescribeStateMachineCommand({ stateMachineArn: MACHINE }));
    expect(described).toMatchObject({ definition: invokes, roleArn: `${ROLE}2`, revisionId: second.revisionId });
  });

  it("refuses an invalid definition, and keeps the previous definition", async () => {
    const { client } = await testServer();
    await client.send(create());
    const update = new UpdateStateMachineCommand({ stateMachineArn: MACHINE, definition: "{}" });
    await expect(client.send(update)).rejects.toMatchObject({ name: "InvalidDefinition" });
    const described = await client.send(new DescribeStateMachineCommand({ stateMachineArn: MACHINE }));
    expect(described.definition).toBe(passes);
  });
});

describe("a request about state machines to the local Step Functions", () => {
  it.each([
    ["StateMachineDoesNotExist", MACHINE, `State Machine Does Not Exist: '${MACHINE}'`],
    ["StateMachineDoesNotExist", `${MACHINE}:1`, `State Machine Does Not Exist: '${MACHINE}:1'`],
    ["InvalidArn", "not_an_arn", "Invalid Arn: 'Invalid ARN prefix: not_an_arn'"],
    [
      "InvalidArn",
      MACHINE.replace("stateMachine", "activity"),
      "Invalid Arn: 'Resource type not valid in this context: activity'",
    ],
  ])("gets the error %s for %s", async (name, stateMachineArn, message) => {
    const { client } = await testServer();
    await expect(client.send(new DescribeStateMachineCommand({ stateMachineArn }))).rejects.toMatchObject({
      name,
      message,
    });
  });

  it("returns the state machines page by page", async () => {
    const { client } = await testServer();
    for (const name of ["c", "a", "b"]) await client.send(create({ name }));
    const first = await client.send(new ListStateMachinesCommand({ maxResults: 2 }));
    const second = await client.send(new ListStateMachinesCommand({ maxResults: 2, nextToken: first.nextToken }));
    const names = [...(first.stateMachines ?? []), ...(second.stateMachines ?? [])].map(({ name }) => name);
    expect(names).toEqual(["a", "b", "c"]);
    expect(second.nextToken).toBeUndefined();
  });

  it.each([
    [{ maxResults: 1001 }, "ValidationException", /less than or equal to 1000/],
    [{ nextToken: "nonsense" }, "InvalidToken", /^Invalid Token: 'Invalid token'$/],
  ])("is refused with the parameters %j", async (fields, name, message) => {
    const { client } = await testServer();
    const list = client.send(new ListStateMachinesCommand(fields));
    await expect(list).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  });
});

describe("DeleteStateMachine", () => {
  it("aborts running executions, frees the name, and succeeds if it is repeated", async () => {
    const held = heldLambda();
    const { client, changes } = await testServer({ invokeLambda: held.invokeLambda });
    await client.send(create({ definition: invokes }));
    await client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: "one" }));
    await held.called;
    await client.send(new DeleteStateMachineCommand({ stateMachineArn: MACHINE }));
    await client.send(new DeleteStateMachineCommand({ stateMachineArn: MACHINE }));
    expect(changes).toMatchObject([{ name: "one", status: "ABORTED" }]);
    await client.send(create());
  });
});
