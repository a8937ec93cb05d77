import { randomUUID } from "node:crypto";
import { AwsError } from "../../aws-http/aws-error.ts";
import { compileStateMachine } from "../asl/compile.ts";
import { DATA_LIMIT_BYTES } from "../asl/failure.ts";
import type { ChildStart, StartedChild } from "../asl/host.ts";
import { type HistoryEvent, inputAndEndOf } from "../history.ts";
import type { LiveOptions } from "../live-options.ts";
import type { Execution } from "../store/executions.ts";
import { arnError, assertName } from "./arns.ts";
import type { Service } from "./service.ts";
import { findMachine, stateMachineArn, versionArn } from "./state-machines.ts";

/** The time after which another execution may get the name of an ended one (Step Functions, StartExecution). */
const NAME_KEPT_MS = 90 * 24 * 3600 * 1000;

export interface Start {
  stateMachineArn: string;
  name?: string | undefined;
  /** JSON text. */
  input: string;
  startedBy?: NonNullable<Execution["startedBy"]>;
}

/**
 * Starts an execution, or returns the one that an earlier attempt of the same request has started.
 * @throws StateMachineDoesNotExist, InvalidName, InvalidExecutionInput, ExecutionAlreadyExists
 */
export function startExecution(service: Service, start: Start): Execution {
  const { machine, version } = findMachine(service, start.stateMachineArn);
  const { name = randomUUID(), input, startedBy } = start;
  assertName(name);
  assertInput(input);
  const machineArn = stateMachineArn(machine.name);
  const arn = `${machineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  const existing = service.executions.get(arn);
  if (existing && !isNameFree(existing, service)) return answerExisting(service, existing, start);
  const execution = service.executions.start({
    name,
    arn,
    machineArn,
    revision: (version?.revision ?? machine.revision).number,
    startedAt: service.clock.now(),
    ...(version ? { versionArn: versionArn(machine, version) } : {}),
    ...(startedBy ? { startedBy } : {}),
  });
  service.live.begin(execution, input);
  return execution;
}

/**
 * Answers a request with the name of an existing execution. Returns that execution if the same parent repeats the same
 * request, or if the execution still runs with the same input. Otherwise it throws.
 */
function answerExisting(service: Service, existing: Execution, { input, startedBy }: Start): Execution {
  if (startedBy && existing.startedBy?.request === startedBy.request) return existing;
  if (existing.status === "RUNNING" && inputAndEndOf(eventsOf(service, existing)).input === input) return existing;
  throw arnError("ExecutionAlreadyExists", existing.arn);
}

export function eventsOf({ live, executions }: Service, execution: Execution): readonly HistoryEvent[] {
  return live.get(execution)?.events ?? executions.history(execution);
}

function isNameFree(existing: Execution, { clock }: Service): boolean {
  return existing.stoppedAt !== undefined && clock.now() - existing.stoppedAt >= NAME_KEPT_MS;
}

function assertInput(input: string): void {
  if (input === "") throw arnError("InvalidExecutionInput", "Invalid execution input.");
  if (Buffer.byteLength(input) > DATA_LIMIT_BYTES)
    throw arnError("InvalidExecutionInput", "The input is larger than 256 KiB.");
  try {
    JSON.parse(input);
  } catch (error) {
    throw arnError("InvalidExecutionInput", (error as SyntaxError).message);
  }
}

/** Returns the compiled definition of an execution, and its ARNs. */
export function prepareRun({ machines }: Service, execution: Execution): ReturnType<LiveOptions["prepare"]> {
  const revision = machines.revision(execution.revision);
  const { arn: executionArn, versionArn } = execution;
  const machine = machines.compiled(revision, (text) => compileStateMachine(JSON.parse(text)));
  return { machine, start: { executionArn, versionArn, roleArn: revision.roleArn } };
}

/**
 * Starts an execution for another one, its parent.
 * @throws Error with the name and the words of the AWS SDK for Java, as in AWS's histories
 */
export function startChild(
  service: Service,
  { stateMachineArn: arn, name, input }: ChildStart,
  startedBy: NonNullable<Execution["startedBy"]>,
): StartedChild {
  try {
    const { arn: executionArn, startedAt } = startExecution(service, { stateMachineArn: arn, name, input, startedBy });
    return { executionArn, startedAtMs: startedAt };
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const { name: code, message, status } = error;
    const where = `Service: AWSStepFunctions; Status Code: ${status}; Error Code: ${code}; Request ID: ${randomUUID()}; Proxy: null`;
    throw Object.assign(new Error(`${message} (${where})`), { name: `StepFunctions.${code}Exception` });
  }
}
