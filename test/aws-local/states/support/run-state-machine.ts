import { randomBytes, randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../../../packages/aws-local/src/clock.ts";
import type { Json } from "../../../../packages/aws-local/src/json.ts";
import type { InvokeLambda } from "../../../../packages/aws-local/src/lambda-types.ts";
import { compileStateMachine } from "../../../../packages/aws-local/src/states/asl/compile.ts";
import { type Outcome, prepareExecution } from "../../../../packages/aws-local/src/states/asl/execute.ts";
import { StateFailure } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import {
  type Host,
  type PendingTask,
  type ReadObject,
  tokenOf,
} from "../../../../packages/aws-local/src/states/asl/host.ts";
import type { HistoryEvent } from "../../../../packages/aws-local/src/states/history.ts";
import { noObjects } from "../../../../packages/aws-local/src/states/open-states.ts";

export interface RunOptions {
  invokeLambda: InvokeLambda;
  /** Reads objects for the `ItemReader` of a distributed Map. */
  readObject?: ReadObject;
  clock?: Clock;
  name?: string;
  /** The tokens of tasks with `.waitForTaskToken`, through which a test answers them. */
  tokens?: TaskTokens;
  /** Starts child executions for this execution. Without `children`, the execution cannot start any. */
  children?: Children;
  /** Ends the execution as ABORTED when this signal aborts. */
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
 * Runs a definition in this process without a server, for tests that compare two implementations.
 * @throws DefinitionRejected if the local Step Functions does not support the definition
 */
export async function runStateMachine(definition: object, input: unknown, options: RunOptions): Promise<RunResult> {
  const { invokeLambda, clock = systemClock, name = randomUUID(), tokens = new TaskTokens() } = options;
  const { children, readObject } = options;
  const executionArn = `arn:aws:states:us-east-1:000000000000:execution:direct:${name}`;
  const events: HistoryEvent[] = [];
  const stop = new AbortController();
  const abort = () => stop.abort({ kind: "aborted" });
  if (options.signal?.aborted) abort();
  options.signal?.addEventListener("abort", abort, { once: true });
  const run = prepareExecution(
    compileStateMachine(definition as Json),
    {
      executionArn,
      roleArn: "arn:aws:iam::000000000000:role/direct",
      input: JSON.stringify(input),
    },
    directHost({
      clock,
      invokeLambda,
      readObject,
      tokens,
      children,
      executionArn,
      stopSignal: stop.signal,
    }),
    (event) => events.push(event),
    stop.signal,
  );
  const outcome = await run();
  options.signal?.removeEventListener("abort", abort);
  return { ...present(outcome as Outcome), events };
}

function present(outcome: Outcome): Omit<RunResult, "events"> {
  if (outcome.status === "SUCCEEDED") return { status: outcome.status, output: JSON.parse(outcome.output) };
  const { status, error, cause } = outcome;
  return { status, ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}

/** Lets an execution start child executions and wait for their ends. */
export type Children = Pick<Host, "startExecution" | "executionEnded">;

interface DirectOptions {
  clock: Clock;
  invokeLambda: InvokeLambda;
  tokens: TaskTokens;
  children?: Children | undefined;
  executionArn: string;
  /** Reads objects from S3. If it is absent, every read fails. */
  readObject?: ReadObject | undefined;
  /** A signal that functions get. It aborts when the execution is stopped. */
  stopSignal: AbortSignal;
}

/**
 * Creates a host without a journal, so no later process can continue the execution. If `children` is absent, the
 * execution cannot start child executions.
 */
function directHost(options: DirectOptions): Host {
  const { clock, invokeLambda, readObject = noObjects, tokens, executionArn, stopSignal } = options;
  const noOther = () => Promise.reject(new StateFailure("StepFunctions.StateMachineDoesNotExistException"));
  return {
    now: () => clock.now(),
    random: () => clock.random(),
    uuid: randomUUID,
    sleep: (ms, _purpose, over) => clock.sleep(ms, over),
    invokeLambda: ({ functionArn, payload }) => invokeLambda(functionArn, payload, stopSignal),
    issueToken: () => tokens.issue(executionArn),
    ...(options.children ?? { startExecution: noOther, executionEnded: noOther }),
    readJson: async (place) => JSON.parse(await readObject(place)) as Json,
  };
}

interface Waiting {
  succeed(output: Json): void;
  fail(error: StateFailure): void;
}

/** The tokens of waiting tasks, kept only in the memory of this process. */
export class TaskTokens {
  readonly #waiting = new Map<string, Waiting>();

  issue(executionArn: string): PendingTask {
    const token = tokenOf(executionArn, randomBytes(24));
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    promise.catch(() => undefined);
    this.#waiting.set(token, { succeed: resolve, fail: reject });
    return {
      token,
      answer: (over) => {
        over.addEventListener("abort", () => this.#waiting.delete(token), { once: true });
        return promise;
      },
    };
  }

  /** Whether a task waits for an answer to this token. */
  awaits(token: string): boolean {
    return this.#waiting.has(token);
  }

  /**
   * Answers the task with this token. Returns whether a task waited for the answer; only the first answer finds one.
   */
  succeed(token: string, output: Json): boolean {
    const waiting = this.#take(token);
    waiting?.succeed(output);
    return waiting !== undefined;
  }

  fail(token: string, error: string | undefined, cause: string | undefined): boolean {
    const waiting = this.#take(token);
    waiting?.fail(new StateFailure(error, cause));
    return waiting !== undefined;
  }

  #take(token: string): Waiting | undefined {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    return waiting;
  }
}
