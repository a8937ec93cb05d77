import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../clock.ts";
import type { Json } from "../json.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { compileStateMachine } from "./asl/compile.ts";
import { type Children, directHost } from "./asl/direct-host.ts";
import { type Outcome, prepareExecution } from "./asl/execute.ts";
import type { ReadObject } from "./asl/host.ts";
import { TaskTokens } from "./asl/task/task-tokens.ts";
import type { HistoryEvent } from "./history.ts";

export interface RunOptions {
  invokeLambda: InvokeLambda;
  /** Serves the `ItemReader` of a distributed Map. */
  readObject?: ReadObject;
  clock?: Clock;
  name?: string;
  /** Answers `.waitForTaskToken` tasks. */
  tokens?: TaskTokens;
  /** The executions that it starts; without them it knows no other state machine. */
  children?: Children;
  /** Ends the execution as ABORTED. */
  signal?: AbortSignal;
}

export type RunResult = {
  status: Outcome["status"];
  output?: Json;
  error?: string;
  cause?: string;
  events: HistoryEvent[];
};

/**
 * Runs a definition in this process without a server, for tests that compare two ways of doing the same.
 * @throws DefinitionRejected where the definition cannot be run here
 */
export async function runStateMachine(definition: object, input: unknown, options: RunOptions): Promise<RunResult> {
  const { invokeLambda, clock = systemClock, name = randomUUID(), tokens = new TaskTokens(clock.now) } = options;
  const { children, readObject } = options;
  const executionArn = `arn:aws:states:us-east-1:000000000000:execution:direct:${name}`;
  const events: HistoryEvent[] = [];
  const stop = new AbortController();
  const abort = () => stop.abort({ kind: "aborted" });
  if (options.signal?.aborted) abort();
  options.signal?.addEventListener("abort", abort, { once: true });
  const execution = prepareExecution(
    compileStateMachine(definition as Json),
    {
      executionArn,
      name,
      roleArn: "arn:aws:iam::000000000000:role/direct",
      stateMachine: { arn: "arn:aws:states:us-east-1:000000000000:stateMachine:direct", name: "direct" },
      input: JSON.stringify(input),
      region: "us-east-1",
      accountId: "000000000000",
    },
    {
      host: directHost({
        ...{ clock, invokeLambda, readObject, tokens, children, executionArn },
        stopSignal: stop.signal,
      }),
      write: (event) => events.push(event),
    },
    stop.signal,
  );
  const outcome = await execution.run();
  options.signal?.removeEventListener("abort", abort);
  return { ...present(outcome as Outcome), events };
}

function present(outcome: Outcome): Omit<RunResult, "events"> {
  if (outcome.status === "SUCCEEDED") return { status: outcome.status, output: JSON.parse(outcome.output) };
  const { status, error, cause } = outcome;
  return { status, ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}
