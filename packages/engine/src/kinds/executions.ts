import type { Ports } from "../ports/index.ts";
import * as cancelling from "../protocol/cancel.ts";
import * as closing from "../protocol/close.ts";
import * as failing from "../protocol/fail.ts";
import type { KindPorts } from "../protocol/settling.ts";
import * as sweeping from "../protocol/sweep.ts";
import { endless, type TimeBudget } from "../protocol/time-budget.ts";
import { withKinds } from "./table.ts";
import { type SweptTasks, sweepTasks } from "./waiting/sweep-tasks.ts";

/** What the protocol does with a whole execution, for every kind of node. */
function forAllKinds<Rest extends unknown[], Answer>(work: (ports: KindPorts, ...rest: Rest) => Answer) {
  return (ports: Ports, ...rest: Rest): Answer => work(withKinds(ports), ...rest);
}

export const closeExecution = forAllKinds(closing.closeExecution);
export const cancelExecution = forAllKinds(cancelling.cancelExecution);
export const failExecution = forAllKinds(failing.failExecution);
export const executionEnded = forAllKinds(failing.executionEnded);
export const sweepExecution = forAllKinds(sweeping.sweepExecution);
export const sweepRuns = forAllKinds(sweeping.sweepRuns);

export interface Swept extends sweeping.SweptRuns {
  tasks: SweptTasks;
}

/** Executions and then their tasks. */
export async function sweep(ports: Ports, time: TimeBudget = endless): Promise<Swept> {
  const { open, ...runs } = await sweepRuns(ports, time);
  return { ...runs, tasks: await sweepTasks(ports, open, time) };
}
