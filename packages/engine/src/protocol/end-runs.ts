import { headOf } from "../chain/entry.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Execution, Parent, StateMachineRun } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { readTip } from "./branches.ts";
import { closeExecution, stopFurther, stopMachine } from "./close.ts";
import { type KindPorts, type Reason, reasonOf } from "./definition.ts";
import { type CaughtError, type Continuation, type RunPosition, startInput } from "./event.ts";
import { type Closed, executionOf } from "./record.ts";

/** The age in milliseconds from which the sweeper starts the state machine execution of a run that has none. */
const lostStartMs = 30_000;

/** The error name of executions that were running when the local cloud was killed. */
export const interruptedError = "Interrupted";

export interface SweptRuns {
  closed: string[];
  restarted: string[];
  /** Runs for which the sweep failed; the next sweep tries again. */
  failed: { id: string; reason: string }[];
}

/** Ids of all open runs; undefined if the sweep did not read all of them. */
type Open = ReadonlySet<string> | undefined;

type Done = "closed" | "restarted";

/** Returns the result of a sweep that has swept no run. */
export function noRuns(): SweptRuns & { open: Open } {
  return { closed: [], restarted: [], failed: [], open: undefined };
}

/**
 * Sweeps every open run: closes runs whose state machine has ended, and repeats lost starts. An error of one run does
 * not end the sweep of the other runs.
 */
export async function sweepRuns(ports: KindPorts, timeBudget: TimeBudget = endless) {
  const { open: _, ...swept } = noRuns();
  const open = new Set<string>();
  const alive: Execution[] = [];
  const since = ports.clock.now();
  const isRunning = runningExecutions(ports);
  const look = async (record: Execution, work: () => Promise<Done | null>) => {
    try {
      const what = await work();
      if (what) swept[what].push(record.id);
    } catch (error) {
      swept.failed.push({ id: record.id, reason: String(error) });
    }
  };
  for await (const record of ports.executions.open()) {
    if (timeBudget.aborted) return { ...swept, open: undefined };
    open.add(record.id);
    // This run started after the sweep did, so the lists of the sweep may lack this run. Such a young run is not lost.
    if (Date.parse(record.startedAt) > since) continue;
    await look(record, async () => {
      if (!runningStatuses.has(record.status) || !(await isRunning(record))) return sweepExecution(ports, record);
      if (record.status === "running") alive.push(record);
      return null;
    });
  }
  for (const record of alive) {
    if (timeBudget.aborted) break;
    await look(record, () => finishClosed(ports, record));
  }
  return { ...swept, open };
}

/** The statuses of a run while its execution in Step Functions runs. */
const runningStatuses: ReadonlySet<string> = new Set<Execution["status"]>(["running", "waiting"]);

/**
 * Returns a function that says whether the execution of a run is running. It lists the executions of each state machine
 * once, because DescribeExecution allows 15 calls a second. The list may be out of date.
 */
function runningExecutions({ stateMachines }: Ports): (record: Execution) => Promise<boolean> {
  const byWorkflow = new Map<string, Promise<ReadonlySet<string>>>();
  return async ({ id, workflowId, stateMachineArn }) => {
    const running = byWorkflow.get(workflowId) ?? stateMachines.running(stateMachineArn);
    byWorkflow.set(workflowId, running);
    return (await running).has(id);
  };
}

/**
 * Sweeps one open run. NOVA also calls this function when AWS reports that an execution has ended, but AWS may fail to
 * deliver this report.
 */
export async function sweepExecution(ports: KindPorts, record: Execution): Promise<Done | null> {
  const tip = await tipOf(ports, record);
  if (!tip) return null;
  if (isClose(tip)) return finishClosed(ports, record, tip);
  // The sweeper does not start a queued run. Such a run starts when it gets its slots.
  if (record.status === "queued") return null;
  const run = await ports.stateMachines.describe(record.stateMachineArn, record.id);
  if (run === null) return record.parent ? dropUnlessCalled(ports, record, record.parent) : repeatStart(ports, record);
  if (!hasEnded(run)) return null;
  if (headOf(tip).continuation) await stopFurther(ports, record, "Whoever waited for this execution has ended.");
  await closeAfter(ports, record.id, run);
  return "closed";
}

async function tipOf({ chain }: Ports, { id }: Execution): Promise<StoredEntry | undefined> {
  return (await chain.tip(id, "")).find(({ entry }) => entry)?.entry;
}

function isClose(tip: StoredEntry): boolean {
  return headOf(tip).node_type === "close";
}

/**
 * Completes a close if the delivery that wrote the close entry died before it had finished. Step Functions would repeat
 * this delivery only much later.
 */
async function finishClosed(ports: KindPorts, record: Execution, known?: StoredEntry): Promise<"closed" | null> {
  const tip = known ?? (await tipOf(ports, record));
  if (!tip || !isClose(tip)) return null;
  await closeExecution(ports, { execution: record.id, status: "completed" });
  return "closed";
}

async function repeatStart(ports: Ports, record: Execution): Promise<"restarted" | null> {
  if (ports.clock.now() - Date.parse(record.startedAt) < lostStartMs) return null;
  await ports.stateMachines.start(record.stateMachineArn, record.id, startInput(record));
  return "restarted";
}

/**
 * Closes an inner run that never started, if the node that should run it has an outcome. Otherwise the outer run will
 * start the inner run.
 */
async function dropUnlessCalled(ports: KindPorts, record: Execution, parent: Parent): Promise<"closed" | null> {
  const { turn, entry } = await ports.chain.read(parent);
  if (!entry && turn?.state === "held") return null;
  await closeExecution(ports, { execution: record.id, status: "cancelled" });
  return "closed";
}

export type EndedRun = StateMachineRun & { status: Exclude<StateMachineRun["status"], "running"> };

export function hasEnded(run: StateMachineRun): run is EndedRun {
  return run.status !== "running";
}

export async function closeAfter(ports: KindPorts, execution: string, run: EndedRun): Promise<Closed> {
  const close = (status: Closed["status"], reason?: Reason) =>
    closeExecution(ports, { execution, status, ...(reason && { reason }) });
  switch (run.status) {
    case "succeeded":
      return confirmCompletion(ports, execution);
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

/**
 * Completes the close of a run whose state machine succeeded, which is possible only after a close entry. Throws
 * `ChainBroken` if the chain has no close entry, because its last entries were then removed.
 */
async function confirmCompletion(ports: KindPorts, execution: string): Promise<Closed> {
  const { head } = await readTip(ports, execution, "");
  if (head.node_type === "close") return closeExecution(ports, { execution, status: "completed" });
  const what = `Step Functions has completed execution ${execution}, whose chain ends with link ${head.seq} and no close`;
  throw chainBroken(`${what} - \`nova verify ${execution}\` says what is missing`);
}

/**
 * Limits the time of a part of a sweep. Once `aborted` is true, the sweep handles its current run completely, and then
 * ends.
 */
export type TimeBudget = Pick<AbortSignal, "aborted">;

export const endless: TimeBudget = { aborted: false };

/**
 * The input of the last task of a failed run. `continuation`: the further execution that failed; absent if none failed.
 */
export type FailEvent = RunPosition & { error?: CaughtError; continuation?: Continuation };

/** Closes a run after a task failed and Step Functions does not retry it. Returns the error in the close entry. */
export async function failExecution(
  ports: KindPorts,
  { execution, seq, error, continuation }: FailEvent,
): Promise<{ error: CaughtError }> {
  const reason = reasonOf(error ?? { Error: "ChainBroken", Cause: "a decision led to no edge" });
  if (continuation) await closeContinuation(ports, execution.id, continuation);
  const closed = await closeExecution(ports, { execution: execution.id, status: "failed", reason, seq });
  if (!closed.error) return { error: { Error: "ExecutionClosed", Cause: `the execution was ${closed.status} before` } };
  return { error: { Error: closed.error.class, Cause: `node "${closed.error.node}": ${closed.error.message}` } };
}

/**
 * Closes a run whose further execution ended without closing the run. Stops all further executions that still run,
 * because they must not continue a closed run.
 */
async function closeContinuation(ports: KindPorts, id: string, { arn, name, number }: Continuation): Promise<void> {
  const run = await ports.stateMachines.describe(arn, name);
  const cause = "Step Functions does not wait for it any more.";
  await stopFurther(ports, { id, stateMachineArn: arn }, cause, number);
  if (run && hasEnded(run)) await closeAfter(ports, id, run);
}

/**
 * Closes the run of this id after its execution ended. Does nothing for a further execution, whose name is no id of a
 * run.
 */
export async function executionEnded(ports: KindPorts, id: string): Promise<void> {
  const record = await ports.executions.get(id);
  if (record?.open) await sweepExecution(ports, record);
}

const cancelledInQueue = {
  class: "ExecutionClosed",
  message: "the execution was cancelled while it was queued",
} as const;

/**
 * Stops the state machine of a run and closes its chain. Returns how the run ended. Throws `ExecutionNotFound` if the
 * run does not exist.
 */
export async function cancelExecution(ports: KindPorts, id: string): Promise<Closed> {
  const record = await executionOf(ports, id);
  if (record.open) await stopMachine(ports, record, "The execution was cancelled.");
  const reason = record.status === "queued" && { reason: cancelledInQueue };
  return closeExecution(ports, { execution: id, status: "cancelled", ...reason });
}
