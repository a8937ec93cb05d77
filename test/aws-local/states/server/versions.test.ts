import {
  CreateStateMachineCommand,
  DeleteStateMachineVersionCommand,
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ListExecutionsCommand,
  ListStateMachineVersionsCommand,
  type SFNClient,
  StartExecutionCommand,
  UpdateStateMachineCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { EXECUTION, invokes, MACHINE, passes, ROLE, testServer } from "../support/server.ts";

const create = (publish: boolean) =>
  new CreateStateMachineCommand({ name: "flow", definition: passes, roleArn: ROLE, publish });
const update = (definition: string, fields: object = {}) =>
  new UpdateStateMachineCommand({ stateMachineArn: MACHINE, definition, publish: true, ...fields });

async function versions(client: SFNClient): Promise<string[]> {
  const answer = await client.send(new ListStateMachineVersionsCommand({ stateMachineArn: MACHINE }));
  return (answer.stateMachineVersions ?? []).map((version) => version.stateMachineVersionArn ?? "");
}

describe("versions of a state machine in the local Step Functions", () => {
  it("can be published when a state machine is created or updated, and are listed with the latest one first", async () => {
    const { client } = await testServer();
    const created = await client.send(create(true));
    const updated = await client.send(update(invokes, { versionDescription: "second" }));
    expect([created.stateMachineVersionArn, updated.stateMachineVersionArn]).toEqual([`${MACHINE}:1`, `${MACHINE}:2`]);
    expect(await versions(client)).toEqual([`${MACHINE}:2`, `${MACHINE}:1`]);
  });

  it("keep the definition with which they were published", async () => {
    const { client } = await testServer();
    await client.send(create(true));
    await client.send(update(invokes, { versionDescription: "second" }));
    const describeVersion = (n: number) =>
      client.send(new DescribeStateMachineCommand({ stateMachineArn: `${MACHINE}:${n}` }));
    expect(await describeVersion(1)).toMatchObject({ stateMachineArn: `${MACHINE}:1`, definition: passes });
    expect(await describeVersion(2)).toMatchObject({ definition: invokes, description: "second" });
  });

  it("are not published a second time for the same revision", async () => {
    const { client } = await testServer();
    await client.send(create(true));
    expect((await client.send(create(true))).stateMachineVersionArn).toBe(`${MACHINE}:1`);
    expect((await client.send(update(passes))).stateMachineVersionArn).toBe(`${MACHINE}:1`);
    expect(await versions(client)).toHaveLength(1);
  });

  it("never reuse a number", async () => {
    const { client } = await testServer();
    await client.send(create(true));
    const remove = new DeleteStateMachineVersionCommand({ stateMachineVersionArn: `${MACHINE}:1` });
    await client.send(remove);
    await client.send(remove);
    expect(await versions(client)).toEqual([]);
    expect((await client.send(create(true))).stateMachineVersionArn).toBe(`${MACHINE}:2`);
  });

  it("cannot be updated", async () => {
    const { client } = await testServer();
    await client.send(create(true));
    const qualified = new UpdateStateMachineCommand({ stateMachineArn: `${MACHINE}:1`, definition: invokes });
    await expect(client.send(qualified)).rejects.toMatchObject({ name: "StateMachineDoesNotExist" });
  });

  it("run the definition with which they were published, even after later changes", async () => {
    const { client, live } = await testServer({
      invokeLambda: async () => ({ ok: true, payload: '"invoked"' }),
    });
    await client.send(create(true));
    await client.send(update(invokes));
    await client.send(new StartExecutionCommand({ stateMachineArn: `${MACHINE}:1`, name: "old" }));
    await client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: "new" }));
    await live.idle();
    const outputOf = async (name: string) =>
      (await client.send(new DescribeExecutionCommand({ executionArn: `${EXECUTION}:${name}` }))).output;
    expect([await outputOf("old"), await outputOf("new")]).toEqual(["{}", '"invoked"']);
    const { executions } = await client.send(new ListExecutionsCommand({ stateMachineArn: `${MACHINE}:1` }));
    expect(executions).toMatchObject([
      { name: "old", stateMachineArn: MACHINE, stateMachineVersionArn: `${MACHINE}:1` },
    ]);
  });
});
