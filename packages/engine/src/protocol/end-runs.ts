import { headOf } from "../chain/head.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Execution, Parent, StateMachineRun } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { readTip } from "./branches.ts";
import { closeExecution } from "./close.ts";
import { stopFurther, stopMachine } from "./continuation.ts";
import { type CaughtError, type Continuation, type RunPosition, startInput } from "./event.ts";
import type { Closed } from "./finish-close.ts";
import { type KindPorts, type Reason, reasonOf } from "./settling.ts";
import { executionOf } from "./status.ts";

/** A StartExecution that is this old and never happened is repeated. */
const lostStartMs = 30_000;

/** The error with which the local cloud ends runs that it was killed under. */
export const interruptedError = "Interrupted";

/** Ids of executions by what a sweep did with them. */
export interface SweptRuns {
  closed: string[];
  restarted: string[];
  /** Could not be swept this time; the next sweep tries again. */
  failed: { id: string; reason: string }[];
}

/** All of the executions that are open; undefined where not all of them were read. */
type Open = ReadonlySet<string> | undefined;

/** What came of one execution. */
type Done = "closed" | "restarted";

/** Before a sweep, or instead of one. */
export function noRuns(): SweptRuns & { open: Open } {
  return { closed: [], restarted: [], failed: [], open: undefined };
}

/** Every open execution: the dead are closed, lost starts repeated. One that cannot be swept stops no other. */
export async function sweepRuns(
  ports: KindPorts,
  timeBudget: TimeBudget = endless,
): Promise<SweptRuns & { open: Open }> {
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
    // In none of the lists that this sweep read, and too young to be lost.
    if (Date.parse(record.startedAt) > since) continue;
    await look(record, async () => {
      if (!goesOn.has(record.status) || !(await isRunning(record))) return sweepExecution(ports, record);
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

/** Of a record whose state machine is at it, as long as its execution runs. */
const goesOn: ReadonlySet<string> = new Set<Execution["status"]>(["running", "waiting"]);

/** Each machine is asked once, since DescribeExecution may be asked 15 times a second. The list may be late. */
function runningExecutions({ stateMachines }: Ports): (record: Execution) => Promise<boolean> {
  const byWorkflow = new Map<string, Promise<ReadonlySet<string>>>();
  return async ({ id, workflowId, stateMachineArn }) => {
    const running = byWorkflow.get(workflowId) ?? stateMachines.running(stateMachineArn);
    byWorkflow.set(workflowId, running);
    return (await running).has(id);
  };
}

/** One open execution; also the answer to its state machine's status event, which is best effort. */
export async function sweepExecution(ports: KindPorts, record: Execution): Promise<Done | null> {
  const tip = await tipOf(ports, record);
  if (!tip) return null;
  if (isClose(tip)) return finishClosed(ports, record, tip);
  // Whoever looks after the quotas begins it.
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

/** Its closer may have died behind the close entry, and Step Functions takes its time to repeat it. */
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

/** It was made by a node, and is started by the run of that; unless the node has its outcome already. */
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

/** Closes a run as an execution of its state machine ended. */
export async function closeAfter(ports: KindPorts, execution: string, run: EndedRun): Promise<Closed> {
  const close = (status: Closed["status"], reason?: Reason) =>
    closeExecution(ports, { execution, status, ...(reason && { reason }) });
  switch (run.status) {
    case "succeeded":
      return completed(ports, execution);
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

/** Step Functions succeeds behind the close entry: without one somebody has cut off the end of the chain. */
async function completed(ports: KindPorts, execution: string): Promise<Closed> {
  const { head } = await readTip(ports, execution, "");
  if (head.node_type === "close") return closeExecution(ports, { execution, status: "completed" });
  const what = `Step Functions has completed execution ${execution}, whose chain ends with link ${head.seq} and no close`;
  throw chainBroken(`${what} - \`nova verify ${execution}\` says what is missing`);
}

/** How long a part of a sweep may go on: it ends behind what it is at when the budget is `aborted`. A signal is one. */
export type TimeBudget = Pick<AbortSignal, "aborted">;

/** The budget of callers without a deadline. */
export const endless: TimeBudget = { aborted: false };

/** Input of the last task of a run that fails; `continuation` where it was a further execution that failed. */
export type FailEvent = RunPosition & { error?: CaughtError; continuation?: Continuation };

/** Closes a run whose task failed for good. Answers the error that the chain says. */
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

/** A further execution that ended without a close closes the run as it ended; one that is given up must not go on. */
async function closeContinuation(ports: KindPorts, id: string, { arn, name, number }: Continuation): Promise<void> {
  const run = await ports.stateMachines.describe(arn, name);
  const cause = "Step Functions does not wait for it any more.";
  await stopFurther(ports, { id, stateMachineArn: arn }, cause, number);
  if (run && hasEnded(run)) await closeAfter(ports, id, run);
}

/** Closes the run whose state machine's execution ended. A further execution bears no run's name. */
export async function executionEnded(ports: KindPorts, id: string): Promise<void> {
  const record = await ports.executions.get(id);
  if (record?.open) await sweepExecution(ports, record);
}

/** No node ran, so none was cut off. */
const unbegun = { class: "ExecutionClosed", message: "the execution was cancelled while it was queued" } as const;

/** Stops the state machine, then closes the chain, or answers how it ended. Throws `ExecutionNotFound`. */
export async function cancelExecution(ports: KindPorts, id: string): Promise<Closed> {
  const record = await executionOf(ports, id);
  if (record.open) await stopMachine(ports, record, "The execution was cancelled.");
  const reason = record.status === "queued" && { reason: unbegun };
  return closeExecution(ports, { execution: id, status: "cancelled", ...reason });
}
