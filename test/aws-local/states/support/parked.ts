import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import type { InvokeLambda } from "../../../../packages/aws-local/src/lambda-types.ts";
import type { StatesOptions } from "../../../../packages/aws-local/src/states/open-states.ts";
import { FUNCTION } from "./run.ts";
import { EXECUTION, MACHINE, ROLE, type TestServer, testServer } from "./server.ts";

/** A task that passes its token to a function, and waits until a client answers the token. */
export const asks = {
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
  Parameters: { FunctionName: FUNCTION, Payload: { "token.$": "$$.Task.Token", "of.$": "$" } },
};
export const works = { Type: "Task", Resource: FUNCTION };

/** Returns a state machine in which these states follow one another. */
export function inRow(states: Record<string, object>): { StartAt: string; States: object } {
  const names = Object.keys(states);
  const linked = names.map((name, i) => {
    const next = names[i + 1];
    return [name, { ...states[name], ...(next === undefined ? { End: true } : { Next: next }) }];
  });
  return { StartAt: names[0] as string, States: Object.fromEntries(linked) };
}

/**
 * Returns a Lambda function that returns its input, the payloads that it has received, and a lookup of task tokens by
 * input.
 */
export function keeper() {
  const payloads: unknown[] = [];
  const invokeLambda: InvokeLambda = async (_arn, payload) => {
    payloads.push(JSON.parse(payload));
    return { ok: true, payload };
  };
  const tokenOf = (of: unknown): string =>
    (payloads as { token: string; of: unknown }[]).findLast((one) => JSON.stringify(one?.of) === JSON.stringify(of))
      ?.token as string;
  return { payloads, invokeLambda, tokenOf };
}

export const input = { n: 1 };

/** Opens a server with the state machine `flow`, and starts an execution `one` of it. */
export async function begun(
  definition: object,
  options: Partial<StatesOptions> & { input?: unknown } = {},
): Promise<TestServer> {
  const server = await testServer(options);
  const create = { name: "flow", definition: JSON.stringify(definition), roleArn: ROLE };
  await server.client.send(new CreateStateMachineCommand(create));
  const begin = { stateMachineArn: MACHINE, name: "one", input: JSON.stringify(options.input ?? input) };
  await server.client.send(new StartExecutionCommand(begin));
  return server;
}

/** Does what `begun` does. Resolves when the execution has ended, or waits for an answer or a time. */
export async function rested(...args: Parameters<typeof begun>): Promise<TestServer> {
  const server = await begun(...args);
  await server.live.idle();
  return server;
}

/** Closes the server and opens its folder again, as the next process would. */
export async function reopened(server: TestServer, options: Partial<StatesOptions> = {}): Promise<TestServer> {
  await server.close();
  return testServer({ ...options, dataDir: server.dataDir });
}

/**
 * Resolves with the description of the execution when no execution runs any more. An execution that waits for an answer
 * or a time does not run.
 */
export async function standing({ client, live }: TestServer, name = "flow:one") {
  await live.idle();
  return client.send(new DescribeExecutionCommand({ executionArn: EXECUTION.replace(/flow$/, name) }));
}

export async function historyOf({ client }: TestServer, name = "one") {
  const { events } = await client.send(new GetExecutionHistoryCommand({ executionArn: `${EXECUTION}:${name}` }));
  return events ?? [];
}

export function succeed(taskToken: string, output: unknown = "yes"): SendTaskSuccessCommand {
  return new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) });
}
