import { isLong, type TaskNode } from "@nova/workflow";
import { NovaError } from "../errors.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { commitOutcome } from "../protocol/commit.ts";
import type { HeldNode } from "../protocol/definition.ts";
import { failed, heldMs, type RunFacts } from "../protocol/outcome.ts";
import type { KindPorts, Reason, SettlingPorts } from "../protocol/settling.ts";
import { moveSandboxes, withoutPool } from "../sandboxes/life.ts";
import { lifetimeLeft } from "../sandboxes/spec.ts";
import { sha256 } from "../sha256.ts";
import { type Attempt, addressesFor, allowedFor } from "./acquire.ts";
import { codeRequest, followRun, goneReason, lostReason, overdueReason, timeLimit } from "./code-run.ts";
import { judge, turnFacts, warmAfter } from "./judge.ts";
import type { Executor, FinishedWork, Prepared, TaskTime, Work } from "./run-attempts.ts";
import { stopCode, stopTurn } from "./stop.ts";
import { type NodeIo, type Task, type TaskInput, taskInput } from "./task-input.ts";

/** A node whose author wrote its code: one run of it in a sandbox, or an attachment to the run that is under way. */
export const codeExecutor: Executor<PreparedCode> = { prepare: prepareCode, work: runCode, settle: settleCode };

interface PreparedCode extends Prepared, TaskInput {
  allow: string[] | undefined;
}

async function prepareCode(ports: KindPorts, task: Task): Promise<PreparedCode> {
  const found = await taskInput(ports, task);
  const allow = allowedFor(task, found.overlay);
  return { ...found, allow, findNeeds: () => addressesFor(ports, allow) };
}

async function runCode(
  ports: KindPorts,
  task: Task,
  attempt: Attempt,
  prepared: PreparedCode,
  time: TaskTime,
): Promise<Work> {
  const { node, position } = task;
  const { turn, turnWritten } = attempt;
  const { io } = prepared;
  const limit = timeLimit(ports, turn.since, node.timeoutSeconds);
  if (limit.aborted) return stopLate(ports, task, attempt, io);
  const { signal, follow } = followRun(node, AbortSignal.any([time.signal, limit]), time.followTime);
  const request = codeRequest(task, attempt, prepared);
  const outcome = await ports.sandboxes.run(turn.sandbox as string, request, follow?.watch(io) ?? io, {
    first: !position.next.turn?.sandbox,
    turnWritten,
    lifetimeSeconds: lifetimeLeft(node, ports.clock.now() - Date.parse(turn.since)),
    signal,
  });
  // Only the holder of the turn may use the code's result. A result that may come early waits until our turn is written.
  const isEarly = outcome.kind === "gone" || (outcome.kind === "unfinished" && (isLong(node) || limit.aborted));
  if (outcome.kind === "refused" || (isEarly && !(await turnWritten))) return { kind: "turn lost" };
  switch (outcome.kind) {
    case "finished":
      return finishWith(task, attempt, outcome.result, io);
    case "gone":
      return failLost(ports, task, attempt);
    case "tombstoned":
      return { kind: "again" };
    case "unfinished":
      if (limit.aborted) return stopLate(ports, task, attempt, io);
      if (isLong(node)) return { kind: "running" };
      throw new NovaError("NodeUnfinished", `node "${node.id}" still runs; the next delivery attaches to it`);
  }
}

async function finishWith(
  task: Task,
  attempt: Attempt,
  { isUnfit, ...result }: CodeResult,
  io: NodeIo,
): Promise<FinishedWork> {
  const sandbox = isUnfit ? withoutPool(attempt.sandbox) : attempt.sandbox;
  const outcome = await judge(task, result, io, factsOf(task, { ...attempt, sandbox }));
  // The sandbox of long code lives for one attempt.
  const isShared = !isLong(task.node) && task.node.isolation !== "fresh";
  return { kind: "finished", outcome, reusable: isShared ? sandbox : null, lives: true };
}

/** The sandbox that the turn names is gone, and its code may have had any effect. */
function failLost(ports: Ports, task: Task, attempt: Attempt): FinishedWork {
  const { timeoutSeconds } = task.node;
  const isOver = ports.clock.now() >= Date.parse(attempt.turn.since) + timeoutSeconds * 1000;
  return failWith(task, attempt, isOver ? goneReason(timeoutSeconds) : lostReason(attempt.turn));
}

/** After the time of the code only a result counts that was there before. Code without one is killed with its sandbox. */
async function stopLate(ports: Ports, task: Task, attempt: Attempt, io: NodeIo): Promise<FinishedWork> {
  const stopped = await stopCode(ports, task.position, attempt.turn, io, 0);
  if (stopped?.kind === "finished") return finishWith(task, attempt, stopped.result, io);
  await moveSandboxes(ports, "in use", "turn left", [attempt.turn.sandbox as string]);
  const logs = stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "";
  return failWith(task, attempt, overdueReason(task.node.timeoutSeconds), logs);
}

function failWith(task: Task, attempt: Attempt, reason: Reason, logs = ""): FinishedWork {
  const run = factsOf(task, { ...attempt, sandbox: null });
  const outcome = failed(task, reason, { logs, executionTimeMs: 0, run });
  return { kind: "finished", outcome, reusable: null, lives: false };
}

function factsOf(task: Task, { turn, sandbox }: Pick<Attempt, "turn" | "sandbox">): RunFacts {
  const code = codeHash(task.node);
  return { ...turnFacts(turn), warm: warmAfter(task, sandbox), code };
}

/** Commits the result that the claim kept as the node's own. Without one the node has failed. */
async function settleCode(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const { kept, io, result, warm, logs, reason: why } = await stopTurn(ports, held, reason, 0);
  const run: RunFacts = { ...turnFacts(turn), warm, code: hasStarted(turn) ? codeHash(node) : null };
  const executionTimeMs = turn.due === undefined ? heldMs(ports, turn) : 0;
  const outcome = result
    ? await judge(held, result, io, run)
    : failed(held, { ...why, message: io.mask(why.message) }, { logs, executionTimeMs, run });
  return commitOutcome(ports, position, node, outcome, kept);
}

function hasStarted({ sandbox, due }: Turn): boolean {
  return sandbox !== null || due !== undefined;
}

function codeHash({ executor }: TaskNode): string | null {
  return executor.kind === "code" ? sha256(executor.code) : null;
}
