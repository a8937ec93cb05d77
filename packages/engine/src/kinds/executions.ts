import type { Ports } from "../ports/index.ts";
import * as runs from "../protocol/end-runs.ts";
import type { KindPorts } from "../protocol/settling.ts";
import { withKinds } from "./table.ts";
import * as waiting from "./waiting/request.ts";
import * as tasks from "./waiting/sweep-tasks.ts";

/** Hands over the ports with which every kind of node can be asked. */
function forAllKinds<Rest extends unknown[], Answer>(work: (ports: KindPorts, ...rest: Rest) => Answer) {
  return (ports: Ports, ...rest: Rest): Answer => work(withKinds(ports), ...rest);
}

export const cancelExecution = forAllKinds(runs.cancelExecution);
export const failExecution = forAllKinds(runs.failExecution);
export const executionEnded = forAllKinds(runs.executionEnded);
export const sweepRuns = forAllKinds(runs.sweepRuns);
export const requestApproval = forAllKinds(waiting.requestApproval);
export const sweepTasks = forAllKinds(tasks.sweepTasks);

export interface Swept extends runs.SweptRuns {
  tasks: tasks.SweptTasks;
}

/** Executions and then their tasks. */
export async function sweep(ports: Ports, time: runs.TimeBudget = runs.endless): Promise<Swept> {
  const { open, ...swept } = await sweepRuns(ports, time);
  return { ...swept, tasks: await sweepTasks(ports, open, time) };
}
