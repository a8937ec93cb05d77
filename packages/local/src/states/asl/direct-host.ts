import { randomUUID } from "node:crypto";
import type { Clock } from "../../clock.ts";
import type { Json } from "../../json.ts";
import type { InvokeLambda } from "../../lambda-types.ts";
import { StateFailure } from "./failure.ts";
import type { Host, ReadObject } from "./host.ts";
import type { TaskTokens } from "./task/task-tokens.ts";

/** Executions that one starts and waits for. */
export type Children = Pick<Host, "startExecution" | "executionEnded">;

export interface DirectOptions {
  clock: Clock;
  invokeLambda: InvokeLambda;
  tokens: TaskTokens;
  children?: Children | undefined;
  executionArn: string;
  /** Absent: there is no S3. */
  readObject?: ReadObject | undefined;
  /** Given to the functions: aborted when the execution is stopped. */
  stopSignal: AbortSignal;
}

/**
 * The world itself, for an execution that lives no longer than this process. Without `children` it knows no other state
 * machines.
 */
export function directHost(options: DirectOptions): Host {
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

/** Of whoever has no S3. */
export function noObjects(): Promise<never> {
  return Promise.reject(new Error("There is no S3 beside this Step Functions."));
}
