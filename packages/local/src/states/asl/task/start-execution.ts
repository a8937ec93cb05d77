import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import type { ChildStart, EndedChild } from "../host.ts";
import type { Visit } from "../state.ts";
import type { Work } from "../work-state.ts";
import { compileSeconds, withinLimits } from "./deadline.ts";
import { sdkResponse } from "./sdk-response.ts";
import { recordedTask, recordSubmitted } from "./task-events.ts";

/** `startExecution` alone goes on once the child has started; the others wait for its end. */
export type Pattern = "startExecution" | "startExecution.sync" | "startExecution.sync:2";

const PARAMETERS = ["StateMachineArn", "Name", "Input", "TraceHeader"];

/** The `states:startExecution` integration; `.sync:2` hands on the child's input and output as JSON, `.sync` as text. */
export function compileStartExecution(definition: Definition, resource: Pattern): Work {
  const timeout = compileSeconds(definition, "TimeoutSeconds");
  const heartbeat = compileSeconds(definition, "HeartbeatSeconds");
  const task = { resourceType: "states", resource };
  const isAwaited = resource !== "startExecution";
  assertParameters(definition.child("Parameters"));

  async function attempt(selected: Json, parameters: Json, visit: Visit): Promise<Json> {
    const scope = visit.scope(selected);
    const limits = { timeoutSeconds: timeout(scope), heartbeatSeconds: heartbeat(scope) };
    const child = { ...readChild(parameters, visit), awaited: isAwaited };
    return recordedTask(task, parameters, limits, visit, () =>
      withinLimits((over) => run(child, visit, over), limits, visit.thread),
    );
  }

  async function run(child: ChildStart, { thread }: Visit, over: AbortSignal): Promise<Json> {
    const { host } = thread.run;
    const { executionArn, startedAtMs } = await host.startExecution(child, over).catch(asFailure);
    const response = {
      ExecutionArn: executionArn,
      ...sdkResponse(host.uuid(), { "Content-Type": "application/x-amz-json-1.0" }),
      StartDate: startedAtMs,
    };
    if (!isAwaited || over.aborted) return response;
    recordSubmitted(task, response, thread);
    const ended = describe(await host.executionEnded(executionArn, over), resource);
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

function readChild(parameters: Json, { thread }: Visit): Omit<ChildStart, "awaited"> {
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

/** In the field order of the service: by name. */
function describe(child: EndedChild, resource: Pattern): JsonObject {
  const data = (text: string): Json => (resource === "startExecution.sync:2" ? JSON.parse(text) : text);
  return {
    ...(child.cause === undefined ? {} : { Cause: child.cause }),
    ...(child.error === undefined ? {} : { Error: child.error }),
    ExecutionArn: child.executionArn,
    Input: data(child.input),
    InputDetails: { Included: true },
    Name: child.name,
    ...(child.output === undefined ? {} : { Output: data(child.output), OutputDetails: { Included: true } }),
    RedriveCount: 0,
    RedriveStatus: "NOT_REDRIVABLE",
    StartDate: child.startedAtMs,
    StateMachineArn: child.stateMachineArn,
    Status: child.status,
    StopDate: child.stoppedAtMs,
  };
}

function asFailure(error: unknown): never {
  if (!(error instanceof Error)) throw error;
  throw new StateFailure(error.name, error.message);
}
