import { codeInDefinition, defined, isLong, nameToResolve, type TaskNode } from "@nova/workflow";
import { entryName } from "../chain/ids.ts";
import { NovaError } from "../errors.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { Claim, CodeResult, RunIo, RunRequest } from "../ports/sandboxes.ts";
import { commitOutcome } from "../protocol/commit.ts";
import type { HeldNode, KindPorts, Reason, SettlingPorts } from "../protocol/definition.ts";
import { buildFailure, heldMs, type RunFacts } from "../protocol/outcome.ts";
import { moveSandboxes, withoutPool } from "../sandboxes/life.ts";
import { graceSeconds, lifetimeLeft } from "../sandboxes/spec.ts";
import { sha256 } from "../sha256.ts";
import { judge, turnFacts, warmAfter } from "./judge.ts";
import type { Attempt, Delivery, Executor, FinishedWork, FollowTime, Prepared, Work } from "./run-attempts.ts";
import { stopCode, stopTurn } from "./stop.ts";
import { type NodeIo, type Task, type TaskInput, taskInput } from "./task-input.ts";

/**
 * Runs a node whose author wrote its code: starts the code in a sandbox, or attaches to code that an earlier delivery
 * started.
 */
export const codeExecutor: Executor<PreparedCode> = { prepare: prepareCode, work: runCode, settle: settleCode };

export interface PreparedCode extends Prepared, TaskInput {
  allow: string[] | undefined;
  calls?: RunRequest["calls"];
}

async function prepareCode(ports: KindPorts, task: Task): Promise<PreparedCode> {
  const found = await taskInput(ports, task);
  const allow = allowedFor(task, found.overlay);
  return { ...found, allow, findNeeds: () => addressesFor(ports, allow) };
}

async function runCode(delivery: Delivery, prepared: PreparedCode): Promise<Work> {
  const { ports, task, attempt, time } = delivery;
  const { node, position } = task;
  const { turn, turnWritten } = attempt;
  const { io } = prepared;
  const limit = timeLimit(ports, turn.since, node.timeoutSeconds);
  if (limit.aborted) return stopLate(delivery, io);
  const end = AbortSignal.any([time.signal, limit]);
  const follow = isLong(node) ? followRun(end, time.followTime) : undefined;
  const request = codeRequest(task, attempt, prepared);
  const outcome = await ports.sandboxes.run(turn.sandbox as string, request, follow?.watch(io) ?? io, {
    first: !position.next.turn?.sandbox,
    turnWritten,
    lifetimeSeconds: lifetimeLeft(node, ports.clock.now() - Date.parse(turn.since)),
    signal: follow?.signal ?? end,
  });
  // Only the delivery that holds the turn may use this result. The result may arrive before the turn is written, so the
  // delivery first waits for that write.
  const isEarly = outcome.kind === "gone" || (outcome.kind === "unfinished" && (isLong(node) || limit.aborted));
  if (outcome.kind === "refused" || (isEarly && !(await turnWritten))) return { kind: "turn lost" };
  switch (outcome.kind) {
    case "finished":
      return finishWith(delivery, outcome.result, io);
    case "gone":
      return failLost(delivery);
    case "tombstoned":
      return { kind: "again" };
    case "unfinished":
      if (limit.aborted) return stopLate(delivery, io);
      if (isLong(node)) return { kind: "running" };
      throw new NovaError("NodeUnfinished", `node "${node.id}" still runs; the next delivery attaches to it`);
  }
}

async function finishWith({ task, attempt }: Delivery, found: CodeResult, io: NodeIo): Promise<FinishedWork> {
  const { isUnfit, ...result } = found;
  const sandbox = isUnfit ? withoutPool(attempt.sandbox) : attempt.sandbox;
  const outcome = await judge(task, result, io, factsOf(task, { ...attempt, sandbox }));
  // The sandbox of long code serves one attempt, so no later attempt can reuse it.
  const isShared = !isLong(task.node) && task.node.isolation !== "fresh";
  return { kind: "finished", outcome, reusable: isShared ? sandbox : null, lives: true };
}

/**
 * Fails a node whose sandbox no longer exists. The code may have had effects already, so this function does not run it
 * again.
 */
function failLost({ ports, task, attempt }: Delivery): FinishedWork {
  const { timeoutSeconds } = task.node;
  const isOver = ports.clock.now() >= Date.parse(attempt.turn.since) + timeoutSeconds * 1000;
  return failWith(task, attempt, isOver ? goneReason(timeoutSeconds) : lostReason(attempt.turn));
}

/**
 * Ends code whose time is over. If the code has produced a result, that result counts. Otherwise this function kills
 * the code with its sandbox.
 */
async function stopLate(delivery: Delivery, io: NodeIo): Promise<FinishedWork> {
  const { ports, task, attempt } = delivery;
  const stopped = await stopCode(ports, task.position, attempt.turn, io, 0);
  if (stopped?.kind === "finished") return finishWith(delivery, stopped.result, io);
  await moveSandboxes(ports, "in use", "turn left", [attempt.turn.sandbox as string]);
  const logs = stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "";
  return failWith(task, attempt, overdueReason(task.node.timeoutSeconds), logs);
}

function failWith(task: Task, attempt: Attempt, reason: Reason, logs = ""): FinishedWork {
  const run = factsOf(task, { ...attempt, sandbox: null });
  const outcome = buildFailure(task, reason, { logs, executionTimeMs: 0, run });
  return { kind: "finished", outcome, reusable: null, lives: false };
}

function factsOf(task: Task, { turn, sandbox }: Pick<Attempt, "turn" | "sandbox">): RunFacts {
  const code = codeHash(task.node);
  return { ...turnFacts(turn), warm: warmAfter(task, sandbox), code };
}

/**
 * Settles a node. If the code of the node had finished before NOVA stopped it, commits the result of the code.
 * Otherwise the node fails.
 */
async function settleCode(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const { kept, io, result, warm, logs, reason: why } = await stopTurn(ports, held, reason, 0);
  const hasStarted = turn.sandbox !== null || turn.due !== undefined;
  const run: RunFacts = { ...turnFacts(turn), warm, code: hasStarted ? codeHash(node) : null };
  const executionTimeMs = turn.due === undefined ? heldMs(ports, turn) : 0;
  const outcome = result
    ? await judge(held, result, io, run)
    : buildFailure(held, { ...why, message: io.mask(why.message) }, { logs, executionTimeMs, run });
  return commitOutcome(ports, position, node, outcome, kept);
}

function codeHash({ executor }: TaskNode): string | null {
  const { code } = codeInDefinition(executor) ?? {};
  return code === undefined ? null : sha256(code);
}

/** The settings of one run of code. `step` distinguishes the runs of code of one node; for handwritten code it is 0. */
export type NodeCode = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "network" | "near"> &
  Pick<Claim, "step">;

export function requestFor(
  { node, position: { at }, restartKey }: Task & Pick<TaskInput, "restartKey">,
  { attempt }: Turn,
  { step, code, fileName, timeoutSeconds, network, near }: NodeCode,
  context: RunRequest["context"],
  { isPlain }: Pick<NodeIo, "isPlain">,
): RunRequest {
  const link = entryName(at);
  return {
    execution: at.execution,
    claim: { link, step, attempt },
    node: node.id,
    nodeType: node.type,
    code,
    fileName,
    timeoutSeconds,
    context,
    ...defined({ network, near, isPlain: isPlain || undefined }),
    environment: {
      NOVA_IDEMPOTENCY_KEY: `${link}.${step}`,
      NOVA_RESTART_KEY: restartKey,
      NOVA_EXECUTION_ID: at.execution,
      NOVA_NODE_ID: node.id,
    },
  };
}

/**
 * Returns the network access of one run of code: the only hosts that it may reach (`network`), or else the hosts of its
 * credentials (`near`). On a laptop, a host of a credential often runs on the same machine as the sandbox.
 */
export function networkOf(
  allow: readonly string[] | undefined,
  { addresses }: Pick<Turn, "addresses">,
  { hosts }: Pick<CredentialOverlay, "hosts"> = { hosts: [] },
): Pick<RunRequest, "network" | "near"> {
  if (allow) return { network: { allow: [...allow], ...(addresses && { addresses }) } };
  return hosts.length > 0 ? { near: [...hosts] } : {};
}

function codeRequest(task: Task, { turn }: Attempt, prepared: PreparedCode): RunRequest {
  const { input, restartKey, overlay, io, allow, calls } = prepared;
  const { id, timeoutSeconds } = task.node;
  const { code, file = `${id}.py` } = codeOf(task.node);
  const run = { step: 0, code, fileName: file, timeoutSeconds, ...networkOf(allow, turn, overlay) };
  const request = requestFor({ ...task, restartKey }, turn, run, input.slots(), io);
  if (calls) return { ...request, calls };
  return isFollowedByEnds(task) ? { ...request, isLast: true } : request;
}

function isFollowedByEnds({ position: { at }, edges, version: { workflow } }: Task): boolean {
  const ends = new Set(workflow.nodes.flatMap(({ id, type }) => (type === "end" ? [id] : [])));
  return at.scope === "" && edges.length > 0 && edges.every(({ to }) => ends.has(to));
}

function codeOf({ id, executor }: TaskNode) {
  const code = codeInDefinition(executor);
  if (code) return code;
  throw new NovaError("ChainBroken", `node "${id}" is to run code of its own, and has none`);
}

/**
 * Returns a signal that fires when the time of code that started at `since` is over. This function reads the clock only
 * once, because the clock may jump.
 */
export function timeLimit({ clock, timer }: Pick<Ports, "clock" | "timer">, since: string, timeoutSeconds: number) {
  const wholeMs = (timeoutSeconds + graceSeconds) * 1000;
  const leftMs = Date.parse(since) + wholeMs - clock.now();
  return leftMs <= 0 ? AbortSignal.abort() : timer.timeout(Math.min(wholeMs, leftMs));
}

export function overdueReason(timeoutSeconds: number) {
  const message = `its sandbox gave no result within the timeout of ${timeoutSeconds} s and ${graceSeconds} s more, and was killed - raise "timeout" if the code needs longer, or make what it reads and sets smaller`;
  return { class: "NodeTimeout", message } as const;
}

export function goneReason(timeoutSeconds: number) {
  const message = `its sandbox ended after the timeout of ${timeoutSeconds} s without a result - raise "timeout" or make the code faster`;
  return { class: "NodeTimeout", message } as const;
}

export function lostReason({ sandbox }: Turn) {
  const message = `the sandbox ${sandbox} was lost while the node's code may have been running - declare "effects": false if it may run again`;
  return { class: "NodeInterrupted", message } as const;
}

const followMs = 10_000;

/**
 * The usual time for which a delivery waits for the end of long code. Most code ends within ten seconds, and this wait
 * costs little.
 */
export const tenSeconds: FollowTime = () => AbortSignal.timeout(followMs);

/**
 * Returns the signal that makes a delivery stop waiting for code that may outlive its Lambda. The delivery keeps
 * waiting while large values are transferred through the `RunIo` that `watch` returns.
 */
export function followRun(lambda: AbortSignal, followTime: FollowTime) {
  const end = new AbortController();
  const over = followTime();
  let underWay = 0;
  const look = () => {
    if (over.aborted && underWay === 0) end.abort();
  };
  over.addEventListener("abort", look, { once: true });
  look();
  async function* passing(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    underWay++;
    try {
      yield* body;
    } finally {
      underWay--;
      look();
    }
  }
  const watch = (io: RunIo): RunIo => ({
    ...io,
    openBlob: async (ref) => passing(await io.openBlob(ref)),
    storeBlob: (ref, body) => io.storeBlob(ref, passing(body)),
  });
  return { signal: AbortSignal.any([lambda, end.signal]), watch };
}

/**
 * Returns the hosts to which the code of a node can connect; undefined if these are all hosts that its sandbox can
 * reach.
 */
export function allowedFor(
  { node, position: { before } }: Pick<Task, "node" | "position">,
  { hosts }: CredentialOverlay,
): string[] | undefined {
  const allow = node.executor.kind === "text" ? undefined : node.executor.allow;
  return before.sealed ? [] : allow && [...new Set([...allow, ...hosts])];
}

/**
 * Resolves the host names that code may reach on ports other than 80 and 443. The turn stores the addresses, so every
 * delivery uses the same ones.
 */
export async function addressesFor({ hostNames }: Pick<Ports, "hostNames">, allow: readonly string[] | undefined) {
  const names = new Set((allow ?? []).flatMap((entry) => nameToResolve(entry) ?? []));
  if (names.size === 0) return {};
  const found = [...names].map(async (name) => [name, await hostNames.addressesOf(name)] as const);
  return { addresses: Object.fromEntries(await Promise.all(found)) };
}
