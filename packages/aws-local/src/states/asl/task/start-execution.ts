import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import type { ChildStart, EndedChild } from "../host.ts";
import type { Visit } from "../state.ts";
import type { Work } from "../work-state.ts";
import { compileTimeout, recordSubmitted, runRecordedTask, sdkResponse, throwFailure } from "./integration.ts";

const PARAMETERS = ["StateMachineArn", "Name", "Input", "TraceHeader"];

/**
 * Compiles the integration `states:startExecution.sync:2`. It starts another execution (a child), waits for the end of
 * the child, and returns a description of the child, with input and output as JSON.
 */
export function compileStartExecution(definition: Definition): Work {
  const timeoutSeconds = compileTimeout(definition);
  const task = { resourceType: "states", resource: "startExecution.sync:2" };
  assertParameters(definition.child("Parameters"));

  async function attempt(parameters: Json, visit: Visit): Promise<Json> {
    const child = readChild(parameters, visit);
    return runRecordedTask(task, parameters, timeoutSeconds, visit, (over) => run(child, visit, over));
  }

  async function run(child: ChildStart, { thread }: Visit, over: AbortSignal): Promise<Json> {
    const { host } = thread.run;
    const { executionArn, startedAtMs } = await host.startExecution(child, over).catch(throwFailure);
    const response = {
      ExecutionArn: executionArn,
      ...sdkResponse(host.uuid(), { "Content-Type": "application/x-amz-json-1.0" }),
      StartDate: startedAtMs,
    };
    if (over.aborted) return response;
    recordSubmitted(task, response, thread);
    const ended = describeChild(await host.executionEnded(executionArn, over));
    if (ended.Status === "SUCCEEDED") return ended;
    throw new StateFailure("States.TaskFailed", JSON.stringify(ended));
  }

  return { type: "Task", attempt };
}

function assertParameters(parameters: Definition): void {
  parameters.allowOnly(new Set(PARAMETERS.flatMap((name) => [name, `${name}.$`])));
  if (!parameters.has("StateMachineArn") && !parameters.has("StateMachineArn.$")) {
    throw parameters.reject("StateMachineArn", "is required");
  }
}

function readChild(parameters: Json, { thread }: Visit): ChildStart {
  const { StateMachineArn, Name, Input = {} } = isObject(parameters) ? parameters : ({} as JsonObject);
  if (typeof StateMachineArn !== "string") {
    throw runtimeFailure("The Parameters of states:startExecution must give StateMachineArn as a string.");
  }
  if (Name !== undefined && typeof Name !== "string") {
    throw runtimeFailure("The Name in the Parameters of states:startExecution must be a string.");
  }
  return {
    stateMachineArn: StateMachineArn,
    name: Name ?? thread.run.host.uuid(),
    input: typeof Input === "string" ? Input : JSON.stringify(Input),
  };
}

/** Describes a child. The fields are in alphabetical order, as in AWS's result. */
function describeChild(child: EndedChild): JsonObject {
  return {
    ...(child.cause === undefined ? {} : { Cause: child.cause }),
    ...(child.error === undefined ? {} : { Error: child.error }),
    ExecutionArn: child.executionArn,
    Input: JSON.parse(child.input) as Json,
    InputDetails: { Included: true },
    Name: child.name,
    ...(child.output !== undefined && { Output: JSON.parse(child.output) as Json, OutputDetails: { Included: true } }),
    RedriveCount: 0,
    RedriveStatus: "NOT_REDRIVABLE",
    StartDate: child.startedAtMs,
    StateMachineArn: child.stateMachineArn,
    Status: child.status,
    StopDate: child.stoppedAtMs,
  };
}
