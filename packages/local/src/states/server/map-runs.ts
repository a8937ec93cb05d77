import type { HistoryEvent } from "../history.ts";
import { findExecution, historyOf } from "./executions.ts";
import { pageOf } from "./page.ts";
import type { Operation } from "./service.ts";

/** Map Runs of an execution, the latest first. They are read from its history: nothing else is kept of a Map Run. */
export const listMapRuns: Operation = (service, request) => {
  const execution = findExecution(service, request);
  const events = historyOf(service, execution);
  const started = events.filter(({ type }) => type === "MapRunStarted").reverse();
  const question = `map runs of ${execution.arn}`;
  const { items, ...rest } = pageOf(started, ({ id }) => id, question, request);
  const mapRuns = items.map((event) => ({
    executionArn: execution.arn,
    mapRunArn: event.mapRunStartedEventDetails?.mapRunArn,
    stateMachineArn: execution.machineArn,
    startDate: event.timestamp,
    ...stopped(events, event),
  }));
  return { mapRuns, ...rest };
};

/** Items of a Map Run have histories of their own, so the next event of its thread is its end. */
function stopped(events: HistoryEvent[], { id }: HistoryEvent): { stopDate?: number } {
  const end = events.find((event) => event.previousEventId === id);
  return end ? { stopDate: end.timestamp } : {};
}
