import { headOf } from "../chain/head.ts";
import { reasonOf } from "../node/settle-node.ts";
import type { Reason } from "../node/settling.ts";
import type { Execution, Parent } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { StateMachineRun } from "../ports/state-machines.ts";
import { noTasks, type SweptTasks, sweepTasks } from "../task/sweep-tasks.ts";
import { closeExecution } from "./close.ts";
import type { Closed } from "./finish-close.ts";
import { startInput } from "./first-link.ts";
import { stopFurther } from "./stop.ts";

/** A StartExecution that is this old and never happened is repeated. */
const lostStartMs = 30_000;

/** The error with which the local cloud ends runs that it was killed under. */
export const interruptedError = "Interrupted";

/** Ids of executions by what a sweep did with them. */
export interface Swept {
  closed: string[];
  restarted: string[];
  /** Could not be swept this time; the next sweep tries again. */
  failed: { id: string; reason: string }[];
  tasks: SweptTasks;
}

/**
 * Every open execution: what died is closed, what was closed half is finished, a start that was lost is repeated. One
 * that cannot be swept (its sandbox unreachable, its blobs erased) does not keep the others waiting. With the signal it
 * ends behind the execution that it is at. Executions that wait, for days and by the thousand, cost a name in a list.
 */
export async function sweep(ports: Ports, signal?: AbortSignal): Promise<Swept> {
  const swept: Omit<Swept, "tasks"> = { closed: [], restarted: [], failed: [] };
  const open = new Set<string>();
  const isRunning = runningExecutions(ports);
  for await (const record of ports.executions.open()) {
    // What is not in the set counts as over for tasks, so they have to be left alone, too.
    if (signal?.aborted) return { ...swept, tasks: noTasks() };
    open.add(record.id);
    try {
      if (record.status === "waiting" && (await isRunning(record))) continue;
      const what = await sweepExecution(ports, record);
      if (what) swept[what].push(record.id);
    } catch (error) {
      swept.failed.push({ id: record.id, reason: String(error) });
    }
  }
  return { ...swept, tasks: await sweepTasks(ports, open) };
}

/** Each workflow's machine is asked once. */
function runningExecutions({ stateMachines }: Pick<Ports, "stateMachines">): (record: Execution) => Promise<boolean> {
  const byWorkflow = new Map<string, Promise<ReadonlySet<string>>>();
  return async ({ id, workflowId, stateMachineArn }) => {
    const running = byWorkflow.get(workflowId) ?? stateMachines.running(stateMachineArn);
    byWorkflow.set(workflowId, running);
    return (await running).has(id);
  };
}

/** One open execution; also the answer to its state machine's status event, which is best effort. */
export async function sweepExecution(ports: Ports, record: Execution): Promise<"closed" | "restarted" | null> {
  const tip = (await ports.chain.tip(record.id, "")).find(({ entry }) => entry)?.entry;
  if (!tip) return null;
  if (headOf(tip).node_type === "close") {
    await closeExecution(ports, { execution: record.id, status: "completed" });
    return "closed";
  }
  // Whoever looks after the quotas begins it.
  if (record.status === "queued") return null;
  const run = await ports.stateMachines.describe(record.stateMachineArn, record.id);
  if (run === null) return record.parent ? dropUnlessCalled(ports, record, record.parent) : repeatStart(ports, record);
  if (!hasEnded(run)) return null;
  if (headOf(tip).continuation) await stopFurther(ports, record, "Whoever waited for this execution has ended.");
  await closeAfter(ports, record.id, run);
  return "closed";
}

async function repeatStart(ports: Ports, record: Execution): Promise<"restarted" | null> {
  if (ports.clock.now() - Date.parse(record.startedAt) < lostStartMs) return null;
  await ports.stateMachines.start(record.stateMachineArn, record.id, startInput(record));
  return "restarted";
}

/** It was made by a node, and is started by the run of that; unless the node has its outcome already. */
async function dropUnlessCalled(ports: Ports, record: Execution, parent: Parent): Promise<"closed" | null> {
  const { turn, entry } = await ports.chain.read(parent);
  if (!entry && turn?.state === "held") return null;
  await closeExecution(ports, { execution: record.id, status: "cancelled" });
  return "closed";
}

export type EndedRun = StateMachineRun & { status: Exclude<StateMachineRun["status"], "running"> };

export function hasEnded(run: StateMachineRun): run is EndedRun {
  return run.status !== "running";
}

/** Closes a run as an execution of its state machine ended. */
export async function closeAfter(ports: Ports, execution: string, run: EndedRun): Promise<Closed> {
  const close = (status: Closed["status"], reason?: Reason) =>
    closeExecution(ports, { execution, status, ...(reason && { reason }) });
  switch (run.status) {
    case "succeeded":
      return close("completed");
    case "failed":
      return close("failed", reasonOf({ Error: run.error ?? "Failed", Cause: run.cause ?? "" }));
    case "timed_out":
      return close("failed", { class: "NodeTimeout", message: "the workflow ran longer than its timeout" });
    case "aborted":
      return run.error === interruptedError
        ? close("interrupted", { class: "NodeInterrupted", message: "the process that ran it was stopped" })
        : close("cancelled");
  }
}
