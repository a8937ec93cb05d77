import { CreateStateMachineCommand, ListStateMachinesCommand, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, it } from "vitest";
import { asks, inRow, rested, standing, works } from "../support/parked.ts";
import { heldLambda, MACHINE, ROLE } from "../support/server.ts";

const Interrupted = { kind: "aborted", error: "Interrupted", cause: "by hand" } as const;

it("stopBusy stops executions that run a Lambda function and the parents that wait for them, but no other waiting executions", async () => {
  const { called, invokeLambda } = heldLambda();
  const answersTokens = (arn: string, payload: string) =>
    payload.includes("token") ? Promise.resolve({ ok: true as const, payload }) : invokeLambda(arn, payload);
  const server = await rested(inRow({ Ask: asks }), { invokeLambda: answersTokens });
  const start = {
    Type: "Task",
    Resource: "arn:aws:states:::states:startExecution.sync:2",
    Parameters: { StateMachineArn: MACHINE.replace(/flow$/, "child"), Name: "kid" },
  };
  for (const [name, definition] of Object.entries({ parent: inRow({ Start: start }), child: inRow({ Hang: works }) })) {
    const create = { name, definition: JSON.stringify(definition), roleArn: ROLE };
    await server.client.send(new CreateStateMachineCommand(create));
  }
  await server.client.send(
    new StartExecutionCommand({ stateMachineArn: MACHINE.replace(/flow$/, "parent"), name: "two" }),
  );
  await called;
  // When this request has been answered, the parent has no work left and waits for its child.
  await server.client.send(new ListStateMachinesCommand({}));
  await server.live.stopBusy(Interrupted);
  expect(await standing(server)).toMatchObject({ status: "RUNNING" });
  const ended = { status: "ABORTED", error: "Interrupted" };
  for (const name of ["parent:two", "child:kid"]) expect(await standing(server, name)).toMatchObject(ended);
});
