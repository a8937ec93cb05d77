import { isLong, secretKeys, type TaskNode } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import type { LoadedContext } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import { NovaError } from "../../errors.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { CodeResult, RunRequest } from "../../ports/sandboxes.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import { withoutPool } from "../../protocol/held-turn.ts";
import { failed, heldMs, type RunFacts, turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { sha256 } from "../../sha256.ts";
import { judge } from "../task/judge.ts";
import { adoptTurn, dropUnlessNamed, lostReason, type Place, takeTurn, warmOf, warmWithout } from "../task/place.ts";
import { addressesFor, allowedFor, networkOf } from "../task/reach.ts";
import { requestFor } from "../task/request.ts";
import { isRepeatable, nextAttempt } from "../task/retry.ts";
import { createNodeIo, type NodeIo } from "../task/run-io.ts";
import type { Produced } from "../task/run-task.ts";
import { lifetimeLeft } from "../task/sandbox-choice.ts";
import { stopCode, stopTurn } from "../task/stopped-turn.ts";
import { type Task, type TaskInput, taskInput } from "../task/task.ts";
import { goneReason, overdueReason, timeLimit } from "../task/time-limit.ts";
import { Follow, type FollowTime } from "./follow.ts";

/**
 * One pass over a task with code of its own: take the turn, run the code or attach to it, commit. `"again"` asks the caller to read the
 * chain anew: somebody else was faster, or the turn has moved on to another attempt. The turn: its code runs on, or is to
 * run again, and is to be looked after later.
 */
export async function codePass(ports: Ports, task: Task, time: TaskTime): Promise<Produced> {
  const { position, node, version } = task;
  const { kept, input, overlay, restartKey } = await taskInput(ports, task);
  const io = await createNodeIo(ports, position, input, secretKeys(version.workflow), overlay);
  // A turn between two attempts names no sandbox: the next one begins here.
  const held = position.next.turn?.sandbox ? position.next.turn : undefined;
  const allow = allowedFor(task, overlay);
  const place = held ? adoptTurn(held, task) : await takeTurn(ports, task, await addressesFor(ports, allow));

  const limit = timeLimit(ports, place.turn.since, node.timeoutSeconds);
  if (limit.aborted) return finishLate(ports, { ...task, kept }, place, io);
  const { signal, follow } = followed(node, { ...time, signal: AbortSignal.any([time.signal, limit]) });
  const request = codeRequest({ ...task, input, restartKey }, networkOf(allow, place.turn, overlay), place.turn, io);
  const outcome = await ports.sandboxes.run(place.turn.sandbox as string, request, follow?.watch(io) ?? io, {
    first: !held,
    turnWritten: place.turnWritten,
    lifetimeSeconds: lifetimeLeft(node, ports.clock.now() - Date.parse(place.turn.since)),
    signal,
  });
  // What became of the code matters to the holder of the turn alone, and some of it is known before the turn is ours.
  const isEarly = outcome.kind === "gone" || (outcome.kind === "unfinished" && (isLong(node) || limit.aborted));
  const isOurs = outcome.kind !== "refused" && (!isEarly || (await place.turnWritten));
  if (!isOurs) {
    if (place.created) await dropUnlessNamed(ports, position, place.turn);
    return "again";
  }
  switch (outcome.kind) {
    case "finished":
      return finish(ports, { ...task, kept }, place, outcome.result, io);
    case "gone":
      return endLost(ports, task, place);
    case "tombstoned":
      return "again";
    case "unfinished":
      if (limit.aborted) return finishLate(ports, { ...task, kept }, place, io);
      if (isLong(node)) return place.turn;
      throw new NovaError("NodeUnfinished", `node "${node.id}" still runs; the next delivery attaches to it`);
  }
}

/** When a delivery has to stop, and when it may stop following code that outlives it. */
export interface TaskTime {
  signal: AbortSignal;
  followTime: FollowTime;
}

function followed(node: TaskNode, { signal, followTime }: TaskTime): { signal: AbortSignal; follow?: Follow } {
  if (!isLong(node)) return { signal };
  const follow = new Follow(signal, followTime);
  return { signal: follow.signal, follow };
}

async function finish(
  ports: Ports,
  task: Task & { kept: LoadedContext },
  found: Place,
  { isUnfit, ...result }: CodeResult,
  io: NodeIo,
): Promise<Produced> {
  const { position, node, kept } = task;
  const place = isUnfit ? { ...found, sandbox: withoutPool(found.sandbox) } : found;
  const outcome = await judge(task, result, io, factsOf(task, place));
  // The sandbox of long code lives for one attempt.
  const sound = isLong(node) || node.isolation === "fresh" ? null : place.sandbox;
  const next = outcome.status === "failed" && (await nextAttempt(ports, task, place.turn, outcome, sound));
  if (next) return next;
  const entry = await commitOutcome(ports, position, node, outcome, kept);
  // Which of two deliveries commits decides whether the next node knows the sandbox of long code.
  const isDone = node.isolation === "fresh" || (isLong(node) && headOf(entry).warm?.id !== place.turn.sandbox);
  if (isDone) await ports.sandboxes.kill(place.turn.sandbox as string);
  // The turn may have moved meanwhile: the entry is answered as it is read, beside its turn.
  return isRepeatable(node) ? "again" : entry;
}

/** The sandbox that the turn names is gone, and what its code did is not known. */
async function endLost(ports: Ports, task: Task, place: Place): Promise<Produced> {
  const { timeoutSeconds } = task.node;
  const isOver = ports.clock.now() >= Date.parse(place.turn.since) + timeoutSeconds * 1000;
  return endWith(ports, task, place, isOver ? goneReason(timeoutSeconds) : lostReason(place.turn));
}

async function endWith(ports: Ports, task: Task, place: Place, reason: Reason, logs = ""): Promise<Produced> {
  const facts = { logs, executionTimeMs: 0, run: { ...factsOf(task, place), warm: warmWithout(task) } };
  const outcome = failed(task, reason, facts);
  const next = await nextAttempt(ports, task, place.turn, outcome, null);
  return next ?? commitOutcome(ports, task.position, task.node, outcome);
}

/** After the time of the code: only a result that was there before counts. */
async function finishLate(
  ports: Ports,
  task: Task & { kept: LoadedContext },
  place: Place,
  io: NodeIo,
): Promise<Produced> {
  const stopped = await stopCode(ports, task.position, place.turn, io, 0);
  if (stopped?.kind === "finished") return finish(ports, task, place, stopped.result, io);
  // No sandbox decides how long its node takes: what gave no result in time is killed.
  await ports.sandboxes.kill(place.turn.sandbox as string);
  const logs = stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "";
  return endWith(ports, task, place, overdueReason(task.node.timeoutSeconds), logs);
}

function factsOf(task: Task, place: Place): RunFacts {
  return { ...turnFacts(place.turn), warm: warmOf(task, place), code: sha256(codeOf(task.node).code) };
}

function codeRequest(
  task: Task & Pick<TaskInput, "input" | "restartKey">,
  network: Pick<RunRequest, "network" | "near">,
  turn: Turn,
  io: NodeIo,
): RunRequest {
  const { id, timeoutSeconds } = task.node;
  const { code, file = `${id}.py` } = codeOf(task.node);
  const own = { step: 0, code, fileName: file, timeoutSeconds, ...network };
  const request = requestFor(task, turn, own, task.input.slots(), io);
  return endsBehind(task) ? { ...request, isLast: true } : request;
}

/** Whether every way on from a node of the main line leads to an end. */
function endsBehind({ position: { at }, edges, version: { workflow } }: Task): boolean {
  const ends = new Set(workflow.nodes.flatMap(({ id, type }) => (type === "end" ? [id] : [])));
  return at.scope === "" && edges.length > 0 && edges.every(({ to }) => ends.has(to));
}

function codeOf({ id, executor }: TaskNode) {
  if (executor.kind === "code") return executor;
  throw new NovaError("ChainBroken", `node "${id}" is to run code of its own, and has none`);
}

/** The result that the claim kept is committed as the node's own; without one the node has failed. */
export async function settleCode(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const { kept, io, result, warm, logs, reason: why } = await stopTurn(ports, held, reason, 0);
  const hasBegun = turn.sandbox !== null || turn.due !== undefined;
  const code = hasBegun && node.executor.kind === "code" ? sha256(node.executor.code) : null;
  const run: RunFacts = { ...turnFacts(turn), warm, code };
  const executionTimeMs = turn.due === undefined ? heldMs(ports, turn) : 0;
  const outcome = result
    ? await judge(held, result, io, run)
    : failed(held, { ...why, message: io.mask(why.message) }, { logs, executionTimeMs, run });
  return commitOutcome(ports, position, node, outcome, kept);
}
