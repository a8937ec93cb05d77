import { validation } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { DATA_LIMIT_BYTES } from "../asl/failure.ts";
import type { HistoryEvent } from "../history.ts";
import type { Execution } from "../store/executions.ts";
import { assertExecutionArn } from "./arns.ts";
import { executionDoesNotExist } from "./aws-error.ts";
import { pageOf } from "./page.ts";
import { type Operation, type Service, seconds } from "./service.ts";
import { startExecution } from "./start.ts";
import { describeRevision, findMachine } from "./state-machines.ts";

const STATUSES = ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE"] as const;

export const startExecutionOperation: Operation = (service, request) => {
  const stateMachineArn = request.text("stateMachineArn");
  const name = request.optionalText("name");
  const input = request.optionalText("input", DATA_LIMIT_BYTES) ?? "{}";
  const { arn, startedAt } = startExecution(service, { stateMachineArn, name, input });
  return { executionArn: arn, startDate: seconds(startedAt) };
};

export const stopExecution: Operation = async (service, request) => {
  const execution = findExecution(service, request);
  const error = request.optionalText("error", 256);
  const cause = request.optionalText("cause", 32768);
  await service.live.stop(execution, {
    kind: "aborted",
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  });
  return { stopDate: seconds(execution.stoppedAt as number) };
};

export const describeExecution: Operation = (service, request) => {
  const execution = findExecution(service, request);
  return {
    ...summarize(execution),
    ...describeData(historyOf(service, execution)),
    redriveStatus: "NOT_REDRIVABLE",
    redriveStatusReason: whyNotRedriven(execution),
  };
};

function whyNotRedriven({ status }: Execution): string {
  if (status === "RUNNING" || status === "SUCCEEDED") return `Execution is ${status} and cannot be redriven`;
  return "The local Step Functions redrives nothing: start a new execution";
}

export const listExecutions: Operation = (service, request) => {
  if (request.optionalText("mapRunArn") !== undefined) {
    throw validation("The local Step Functions keeps no executions of a Map Run: list those of a stateMachineArn");
  }
  const arn = request.text("stateMachineArn");
  findMachine(service, arn);
  const status = request.choice("statusFilter", STATUSES);
  const all = service.executions.list(arn).filter((one) => status === undefined || one.status === status);
  const question = `executions of ${arn} ${status ?? ""}`;
  const { items, ...rest } = pageOf(all, (execution) => execution.number, question, request);
  return { executions: items.map(summarize), ...rest };
};

export const getExecutionHistory: Operation = (service, request) => {
  const execution = findExecution(service, request);
  const reverse = request.flag("reverseOrder", false);
  const withData = request.flag("includeExecutionData", true);
  const events = [...historyOf(service, execution)];
  if (reverse) events.reverse();
  const { items, ...rest } = pageOf(events, (event) => event.id, `history of ${execution.arn} ${reverse}`, request);
  return { events: withData ? items : items.map(withoutData), ...rest };
};

export const describeStateMachineForExecution: Operation = (service, request) => {
  const execution = findExecution(service, request);
  const revision = service.machines.revision(execution.revision);
  return {
    stateMachineArn: execution.machineArn,
    name: execution.machineArn.split(":").at(-1),
    updateDate: seconds(revision.at),
    ...describeRevision(revision),
  };
};

/** @throws InvalidArn, ExecutionDoesNotExist */
export function findExecution(service: Service, request: Request): Execution {
  const arn = request.text("executionArn");
  assertExecutionArn(arn);
  const execution = service.executions.get(arn);
  if (!execution) throw executionDoesNotExist(arn);
  return execution;
}

export function historyOf({ live, executions }: Service, execution: Execution): HistoryEvent[] {
  return live.get(execution)?.events ?? executions.history(execution);
}

function summarize(execution: Execution): object {
  const { stoppedAt, versionArn: version } = execution;
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    name: execution.name,
    status: execution.status,
    startDate: seconds(execution.startedAt),
    redriveCount: 0,
    ...(stoppedAt === undefined ? {} : { stopDate: seconds(stoppedAt) }),
    ...(version === undefined ? {} : { stateMachineVersionArn: version }),
  };
}

/** Input, output, error and cause are kept in the history alone. */
function describeData(events: HistoryEvent[]): object {
  const started = events[0]?.executionStartedEventDetails;
  const last = events.at(-1);
  const { output } = last?.executionSucceededEventDetails ?? {};
  const failure =
    last?.executionFailedEventDetails ?? last?.executionAbortedEventDetails ?? last?.executionTimedOutEventDetails;
  return {
    input: started?.input,
    inputDetails: { included: true },
    ...(output === undefined ? {} : { output, outputDetails: { included: true } }),
    error: failure?.error,
    cause: failure?.cause,
  };
}

/** `parameters` of a scheduled task stay: the API requires them, with and without data. */
const DATA_FIELDS = new Set(["input", "output"]);

function withoutData(event: HistoryEvent): object {
  return Object.fromEntries(
    Object.entries(event).map(([key, value]) => [
      key,
      key.endsWith("EventDetails") ? withoutFields(value as object) : value,
    ]),
  );
}

function withoutFields(details: object): object {
  return Object.fromEntries(Object.entries(details).filter(([field]) => !DATA_FIELDS.has(field)));
}
