import type { Ports } from "../ports/index.ts";
import * as failing from "../protocol/end-runs.ts";
import * as sweeping from "../protocol/end-runs.ts";
import type { KindPorts } from "../protocol/settling.ts";
import { withKinds } from "./table.ts";
import { type SweptTasks, sweepTasks } from "./waiting/sweep-tasks.ts";

/** What the protocol does with a whole execution, for every kind of node. */
function forAllKinds<Rest extends unknown[], Answer>(work: (ports: KindPorts, ...rest: Rest) => Answer) {
  return (ports: Ports, ...rest: Rest): Answer => work(withKinds(ports), ...rest);
}

export const cancelExecution = forAllKinds(failing.cancelExecution);
export const failExecution = forAllKinds(failing.failExecution);
export const executionEnded = forAllKinds(failing.executionEnded);
export const sweepRuns = forAllKinds(sweeping.sweepRuns);

export interface Swept extends sweeping.SweptRuns {
  tasks: SweptTasks;
}

/** Executions and then their tasks. */
export async function sweep(ports: Ports, time: sweeping.TimeBudget = sweeping.endless): Promise<Swept> {
  const { open, ...runs } = await sweepRuns(ports, time);
  return { ...runs, tasks: await sweepTasks(ports, open, time) };
}
