import { validation } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { DATA_LIMIT_BYTES } from "../asl/failure.ts";
import { inputAndEndOf } from "../history.ts";
import type { Execution } from "../store/executions.ts";
import { arnError, partsOf } from "./arns.ts";
import { pageOf } from "./page.ts";
import type { Operations, Service } from "./service.ts";
import { eventsOf, startExecution } from "./start.ts";
import { findMachine } from "./state-machines.ts";

const STATUSES = ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE"] as const;

export const executionOperations: Operations = {
  StartExecution(service, request) {
    const stateMachineArn = request.text("stateMachineArn");
    const name = request.optionalText("name");
    const input = request.optionalText("input", { most: DATA_LIMIT_BYTES }) ?? "{}";
    const { arn, startedAt } = startExecution(service, { stateMachineArn, name, input });
    return { executionArn: arn, startDate: startedAt / 1000 };
  },

  async StopExecution(service, request) {
    const execution = findExecution(service, request);
    await service.live.stop(execution, { kind: "aborted", ...readEnd(request) });
    return { stopDate: (execution.stoppedAt as number) / 1000 };
  },

  DescribeExecution(service, request) {
    const execution = findExecution(service, request);
    const { status } = execution;
    const data = inputAndEndOf(eventsOf(service, execution));
    const details = { included: true };
    return {
      ...summarize(execution),
      ...data,
      inputDetails: details,
      outputDetails: data.output === undefined ? undefined : details,
      redriveStatus: "NOT_REDRIVABLE",
      redriveStatusReason:
        status === "RUNNING" || status === "SUCCEEDED"
          ? `Execution is ${status} and cannot be redriven`
          : "The local Step Functions redrives nothing: start a new execution",
    };
  },

  ListExecutions(service, request) {
    if (request.has("mapRunArn")) {
      throw validation("The local Step Functions keeps no executions of a Map Run: list those of a stateMachineArn");
    }
    const arn = request.text("stateMachineArn");
    findMachine(service, arn);
    const status = request.choice("statusFilter", STATUSES);
    const all = service.executions.list(arn).filter((one) => status === undefined || one.status === status);
    const question = `executions of ${arn} ${status ?? ""}`;
    const { items, ...rest } = pageOf(all, (execution) => execution.number, question, request);
    return { executions: items.map(summarize), ...rest };
  },

  GetExecutionHistory(service, request) {
    const execution = findExecution(service, request);
    const reverse = request.flag("reverseOrder");
    const events = [...eventsOf(service, execution)];
    if (reverse) events.reverse();
    const { items, ...rest } = pageOf(events, (event) => event.id, `history of ${execution.arn} ${reverse}`, request);
    return { events: items, ...rest };
  },
};

/** Reads the error and the cause with which a client ends a task or an execution. */
export function readEnd(request: Request): { error?: string; cause?: string } {
  const [error, cause] = [request.optionalText("error", { most: 256 }), request.optionalText("cause", { most: 32768 })];
  return { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) };
}

/**
 * Finds the execution that a request names.
 * @throws InvalidArn, ExecutionDoesNotExist
 */
function findExecution(service: Service, request: Request): Execution {
  const arn = request.text("executionArn");
  partsOf(arn, "execution");
  const execution = service.executions.get(arn);
  if (!execution) throw arnError("ExecutionDoesNotExist", arn);
  return execution;
}

function summarize({ arn, machineArn, name, status, startedAt, stoppedAt, versionArn }: Execution): object {
  return {
    executionArn: arn,
    stateMachineArn: machineArn,
    name,
    status,
    startDate: startedAt / 1000,
    redriveCount: 0,
    stopDate: stoppedAt === undefined ? undefined : stoppedAt / 1000,
    stateMachineVersionArn: versionArn,
  };
}
