import { isLong, type RunErrorClass, type TaskNode } from "@nova/workflow";
import { headOf } from "../chain/head.ts";
import { linkName } from "../chain/link-name.ts";
import { inputAfter, type LoadedContext, type Position } from "../chain/position.ts";
import type { Context } from "../context/context.ts";
import { NovaError } from "../errors.ts";
import { sha256 } from "../json/hash.ts";
import { contextBefore } from "../map/item-input.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult, RunOutcome, RunRequest, Sandbox } from "../ports/sandboxes.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { secretKeys } from "../secrets/secret-inputs.ts";
import { recordAttempt } from "./attempts.ts";
import { commitOutcome } from "./commit.ts";
import { wayTo } from "./definition.ts";
import { Follow, type FollowTime } from "./follow.ts";
import { judge } from "./judge.ts";
import type { RunFacts } from "./outcome.ts";
import { createNodeIo, type NodeIo } from "./run-io.ts";
import { chooseSandbox, lifetimeLeft, sandboxSpec } from "./sandbox-choice.ts";
import type { Task } from "./task.ts";

/** Attempts of one link, whatever the reason for another. */
const mostAttempts = 3;

/**
 * One pass over a task: take the turn, run the code or attach to it, commit. `"again"` asks the caller to read the
 * chain anew: somebody else was faster, or the turn has moved on to another attempt. The turn: its code runs on, and is
 * to be looked after later.
 */
export async function runTask(ports: Ports, task: Task, time: TaskTime): Promise<StoredEntry | "again" | Turn> {
  const { position, node, version } = task;
  const kept = await contextBefore(ports, position);
  const input = decisionless(await inputAfter(position.beforeEntry, kept.context, ports.blobs), node);
  const io = await createNodeIo(ports, position, input, secretKeys(version.workflow));
  const held = position.next.turn;
  const place = held ? adopt(held, task) : await takeTurn(ports, position, node, version);
  place.permit.catch(() => undefined);

  const { signal, follow } = followed(node, time);
  const request = requestFor(task, input, place.turn);
  const outcome = await ports.sandboxes.run(place.turn.sandbox as string, request, follow?.watch(io) ?? io, {
    first: !held,
    permit: place.permit,
    lifetimeSeconds: lifetimeLeft(node, ports.clock.now() - Date.parse(place.turn.since)),
    signal,
  });
  // What became of the code matters to the holder of the turn alone.
  const isOurs = outcome.kind !== "refused" && (!isEarly(outcome, node) || (await place.permit));
  if (!isOurs) {
    if (place.created) await dropUnlessNamed(ports, position, place.turn);
    return "again";
  }
  switch (outcome.kind) {
    case "finished":
      return finish(ports, { ...task, kept }, place, outcome.result, io);
    case "gone":
      return replaceSandbox(ports, task, place);
    case "tombstoned":
      return "again";
    case "unfinished":
      if (isLong(node)) return place.turn;
      throw new NovaError("NodeUnfinished", `node "${node.id}" still runs; the next delivery attaches to it`);
  }
}

interface Place {
  turn: Turn;
  /** Null where only the id is known: another delivery made it, so the next node makes its own. */
  sandbox: Sandbox | null;
  created: boolean;
  /** True once the turn is ours. */
  permit: Promise<boolean>;
}

/** What may be known before the turn is ours. */
function isEarly({ kind }: RunOutcome, node: TaskNode): boolean {
  return kind === "gone" || (kind === "unfinished" && isLong(node));
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

/** A held turn: whoever holds it, its code runs in the sandbox it names, and this delivery attaches. */
function adopt(turn: Turn, { node, position: { before, at } }: Task): Place {
  if (turn.sandbox === null)
    throw new NovaError("ChainBroken", `the turn at link ${at.seq} of ${at.execution} names no sandbox`);
  // How long it lives is known to the delivery that chose it; the scope's next node makes its own.
  const sandbox = before.warm?.id === turn.sandbox && !isLong(node) ? before.warm : null;
  return { turn, sandbox, created: false, permit: Promise.resolve(true) };
}

async function takeTurn(ports: Ports, position: Position, node: TaskNode, version: WorkflowVersion): Promise<Place> {
  const { sandbox, created } = await chooseSandbox(ports, position, node, version);
  const turn: Turn = { node: node.id, state: "held", sandbox: sandbox.id, attempt: 1, since: isoNow(ports) };
  return { turn, sandbox, created, permit: ports.chain.putTurn(position.at, turn, null) };
}

/**
 * A put that lost may be the client's own repetition of one that won: a sandbox is dropped only if the turn that lies
 * there does not name it. (Where it does, the chain is read again and the turn found there is adopted.)
 */
async function dropUnlessNamed(ports: Ports, { at }: Position, { sandbox }: Turn): Promise<void> {
  const { turn } = await ports.chain.read(at);
  if (sandbox !== null && turn?.sandbox !== sandbox) await ports.sandboxes.kill(sandbox);
}

async function finish(
  ports: Ports,
  task: Task & { kept: LoadedContext },
  place: Place,
  result: CodeResult,
  io: NodeIo,
): Promise<StoredEntry | "again"> {
  const { position, node, kept } = task;
  const outcome = await judge(task, result, io, factsOf(task, place));
  const attemptsLeft =
    node.effects === false && node.retry && place.turn.attempt < Math.min(node.retry.attempts, mostAttempts);
  if (outcome.status === "failed" && attemptsLeft) {
    await recordAttempt(ports, position, place.turn, outcome);
    await ports.clock.sleep((node.retry?.delaySeconds ?? 0) * 1000);
    // The sandbox of long code lives for one attempt.
    if (isLong(node)) await moveTurn(ports, task, place.turn);
    else await ports.chain.putTurn(position.at, { ...place.turn, attempt: place.turn.attempt + 1 }, place.turn);
    return "again";
  }
  const entry = await commitOutcome(ports, position, node, outcome, kept);
  // Which of two deliveries commits decides whether the next node knows the sandbox of long code.
  const isDone = node.isolation === "fresh" || (isLong(node) && headOf(entry).warm?.id !== place.turn.sandbox);
  if (isDone) await ports.sandboxes.kill(place.turn.sandbox as string);
  // The turn may have moved meanwhile: the entry is answered as it is read, beside its turn.
  return node.effects === false ? "again" : entry;
}

/** The sandbox that the turn names is gone: with `effects: false` another one may begin the code again. */
async function replaceSandbox(ports: Ports, task: Task, place: Place): Promise<StoredEntry | "again"> {
  const { position, node, version } = task;
  const failure = {
    message: `the sandbox ${place.turn.sandbox} was lost while the node's code may have been running - declare "effects": false if it may run again`,
  };
  const run: RunFacts = { ...factsOf(task, place), warm: null };
  const outcome = {
    status: "failed",
    class: "NodeInterrupted" as RunErrorClass,
    failure,
    logs: "",
    executionTimeMs: 0,
    run,
    next: wayTo(version, node.onError),
  } as const;
  if (node.effects !== false || place.turn.attempt >= mostAttempts)
    return commitOutcome(ports, position, node, outcome);
  await recordAttempt(ports, position, place.turn, outcome);
  await moveTurn(ports, task, place.turn);
  return "again";
}

/** The next attempt, in a new sandbox; the old one is of no use any more. */
async function moveTurn(ports: Ports, { position, node, version }: Task, from: Turn): Promise<void> {
  const sandbox = await ports.sandboxes.create(sandboxSpec(position.at, node, version));
  const turn: Turn = { ...from, sandbox: sandbox.id, attempt: from.attempt + 1, since: isoNow(ports) };
  if (!(await ports.chain.putTurn(position.at, turn, from))) return dropUnlessNamed(ports, position, turn);
  if (isLong(node) && from.sandbox !== null) await ports.sandboxes.kill(from.sandbox);
}

function factsOf({ node, position }: Task, { turn, sandbox }: Place): RunFacts {
  const code = node.executor.kind === "code" ? sha256(node.executor.code) : null;
  const warm = node.isolation === "fresh" ? position.before.warm : sandbox;
  return { attempt: turn.attempt, sandboxId: turn.sandbox, warm, code };
}

function requestFor({ node, position: { at } }: Task, input: Context, turn: Turn): RunRequest {
  if (node.executor.kind !== "code") throw new NovaError("NodeFailed", `node "${node.id}" has no code to run`);
  const link = linkName(at);
  return {
    claim: { link, step: 0, attempt: turn.attempt },
    node: node.id,
    nodeType: node.type,
    code: node.executor.code,
    fileName: node.executor.file ?? `${node.id}.py`,
    timeoutSeconds: node.timeoutSeconds,
    context: input.slots(),
    environment: {
      NOVA_IDEMPOTENCY_KEY: `${link}.0`,
      NOVA_EXECUTION_ID: at.execution,
      NOVA_NODE_ID: node.id,
    },
  };
}

/** A decision never sees the one before it. */
function decisionless(input: Context, node: TaskNode): Context {
  return node.type === "decision" ? input.without("branch_decision") : input;
}

function isoNow(ports: Ports): string {
  return new Date(ports.clock.now()).toISOString();
}
