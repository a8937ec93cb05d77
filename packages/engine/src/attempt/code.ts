import { isLong, type TaskNode } from "@nova/workflow";
import { NovaError } from "../errors.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult, RunOutcome, RunRequest } from "../ports/sandboxes.ts";
import { commitOutcome } from "../protocol/commit.ts";
import type { HeldNode } from "../protocol/definition.ts";
import { failed, heldMs, type RunFacts, turnFacts } from "../protocol/outcome.ts";
import type { KindPorts, Reason, SettlingPorts } from "../protocol/settling.ts";
import { moveSandboxes, withoutPool } from "../sandboxes/life.ts";
import { lifetimeLeft } from "../sandboxes/spec.ts";
import { sha256 } from "../sha256.ts";
import { type Attempt, openAttempt, warmAfter } from "./acquire.ts";
import { Follow } from "./follow.ts";
import { judge } from "./judge.ts";
import { addressesFor, allowedFor, networkOf, requestFor } from "./request.ts";
import type { Executor, FinishedWork, OpenedAttempt, TaskTime, Work } from "./run-attempts.ts";
import { stopCode, stopTurn } from "./stop.ts";
import { type Task, type TaskInput, taskInput } from "./task-input.ts";
import { goneReason, lostReason, overdueReason, timeLimit } from "./time-limit.ts";

/** A node whose author wrote its code: one run of it in a sandbox, or an attachment to the run that is under way. */
export const codeExecutor: Executor<OpenedCode> = { open: openCode, work: runCode, settle: settleCode };

interface OpenedCode extends OpenedAttempt, TaskInput {
  allow: string[] | undefined;
}

async function openCode(ports: KindPorts, task: Task): Promise<OpenedCode> {
  const found = await taskInput(ports, task);
  const allow = allowedFor(task, found.overlay);
  return { ...found, allow, attempt: await openAttempt(ports, task, () => addressesFor(ports, allow)) };
}

async function runCode(ports: KindPorts, task: Task, opened: OpenedCode, time: TaskTime): Promise<Work> {
  const { node, position } = task;
  const { turn, turnWritten } = opened.attempt;
  const limit = timeLimit(ports, turn.since, node.timeoutSeconds);
  if (limit.aborted) return stopLate(ports, task, opened);
  const { signal, follow } = followed(node, { ...time, signal: AbortSignal.any([time.signal, limit]) });
  const outcome = await ports.sandboxes.run(
    turn.sandbox as string,
    codeRequest(task, opened),
    follow?.watch(opened.io) ?? opened.io,
    {
      first: !position.next.turn?.sandbox,
      turnWritten,
      lifetimeSeconds: lifetimeLeft(node, ports.clock.now() - Date.parse(turn.since)),
      signal,
    },
  );
  if (!(await isOurs(outcome, turnWritten, isLong(node) || limit.aborted))) return { kind: "turn lost" };
  switch (outcome.kind) {
    case "finished":
      return finishWith(task, opened, outcome.result);
    case "gone":
      return failLost(ports, task, opened.attempt);
    case "tombstoned":
      return { kind: "again" };
    case "unfinished":
      if (limit.aborted) return stopLate(ports, task, opened);
      if (isLong(node)) return { kind: "running" };
      throw new NovaError("NodeUnfinished", `node "${node.id}" still runs; the next delivery attaches to it`);
    case "refused":
      return { kind: "turn lost" };
  }
}

/** Only the holder of the turn may use the code's result. A result that may come early waits until our turn is written. */
async function isOurs({ kind }: RunOutcome, turnWritten: Promise<boolean>, endsEarly: boolean): Promise<boolean> {
  if (kind === "gone" || (kind === "unfinished" && endsEarly)) return turnWritten;
  return kind !== "refused";
}

function followed(node: TaskNode, { signal, followTime }: TaskTime): { signal: AbortSignal; follow?: Follow } {
  if (!isLong(node)) return { signal };
  const follow = new Follow(signal, followTime);
  return { signal: follow.signal, follow };
}

async function finishWith(
  task: Task,
  { attempt, io }: OpenedCode,
  { isUnfit, ...result }: CodeResult,
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
async function stopLate(ports: Ports, task: Task, opened: OpenedCode): Promise<FinishedWork> {
  const { attempt, io } = opened;
  const stopped = await stopCode(ports, task.position, attempt.turn, io, 0);
  if (stopped?.kind === "finished") return finishWith(task, opened, stopped.result);
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
  return { ...turnFacts(turn), warm: warmAfter(task, sandbox), code: sha256(codeOf(task.node).code) };
}

function codeRequest(task: Task, { attempt, input, restartKey, allow, overlay, io }: OpenedCode): RunRequest {
  const { id, timeoutSeconds } = task.node;
  const { code, file = `${id}.py` } = codeOf(task.node);
  const run = { step: 0, code, fileName: file, timeoutSeconds, ...networkOf(allow, attempt.turn, overlay) };
  const request = requestFor({ ...task, restartKey }, attempt.turn, run, input.slots(), io);
  return isFollowedByEnds(task) ? { ...request, isLast: true } : request;
}

/** Whether every edge from a node of the main line leads to an end. */
function isFollowedByEnds({ position: { at }, edges, version: { workflow } }: Task): boolean {
  const ends = new Set(workflow.nodes.flatMap(({ id, type }) => (type === "end" ? [id] : [])));
  return at.scope === "" && edges.length > 0 && edges.every(({ to }) => ends.has(to));
}

function codeOf({ id, executor }: TaskNode) {
  if (executor.kind === "code") return executor;
  throw new NovaError("ChainBroken", `node "${id}" is to run code of its own, and has none`);
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
