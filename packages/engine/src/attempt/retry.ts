import {
  defined,
  errorAliases,
  heedsRetryAfter,
  isLong,
  type Retry,
  type RunErrorClass,
  retriedError,
  retriedErrors,
  retryAfterSeconds,
  retryWaits,
  secondsAfter,
  type TaskNode,
} from "@nova/workflow";
import { entryName } from "../chain/ids.ts";
import { attemptBoundary, attemptNumber } from "../chain/step-record.ts";
import { leafLimitBytes } from "../context/references.ts";
import { NovaError } from "../errors.ts";
import type { EntryId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { StepDraft } from "../ports/pipeline.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import type { Reason } from "../protocol/definition.ts";
import type { FailedOutcome } from "../protocol/outcome.ts";
import { moveSandboxes, releaseLost, releaseSandboxes } from "../sandboxes/life.ts";
import { sandboxSpec } from "../sandboxes/spec.ts";
import { sha256 } from "../sha256.ts";
import type { Task } from "./task-input.ts";

/**
 * After a failed attempt, a delivery reads the chain again ("again"), or it returns a turn that waits for the next
 * attempt.
 */
type NextAttempt = "again" | Turn;

/**
 * Prepares the next attempt after a failed attempt. Returns undefined if no attempt follows. If the sandbox was lost,
 * code without effects starts again at once. A retry that the author asked for waits first. Either a separate state of
 * the state machine waits, or this function throws `NodeRetry`, and the `Retry` of Step Functions waits. Before the
 * wait, this function records the failed attempt, so that the record is not lost. `reusable`: the sandbox in which the
 * next attempt may start.
 */
export async function nextAttempt(
  ports: Ports,
  task: Task,
  turn: Turn,
  outcome: FailedOutcome,
  reusable: Sandbox | null,
): Promise<NextAttempt | undefined> {
  const { node, position } = task;
  if (outcome.class === "NodeInterrupted" && canChangeSandbox(node, turn)) {
    await recordAttempt(ports, task, turn, outcome, 0);
    await changeSandbox(ports, task, turn);
    return "again";
  }
  const delay = retryDelay(ports, node, turn, outcome);
  const seconds = delay && Math.max(delay.own, delay.least);
  // The sandbox of this turn may have been killed because another delivery has started the next attempt. Then the
  // caller reads the chain again.
  if (seconds === undefined && node.retry && !(await isTurnUnchanged(ports, position.at, turn))) return "again";
  if (seconds !== undefined || turn.attempt > 1) await recordAttempt(ports, task, turn, outcome, seconds);
  if (delay === undefined || seconds === undefined) return undefined;
  const kept = seconds <= maxKeptSeconds ? reusable : null;
  const isLongWait = seconds > maxKeptSeconds;
  const waiting: Turn = {
    ...waitingTurn(ports, task, turn, delay),
    ...(kept && { warm: kept }),
    ...((turn.released || isLongWait) && { released: true, spare: [] }),
  };
  const isOurs = await ports.chain.putTurn(position.at, waiting, turn);
  if (isOurs && !kept && turn.sandbox !== null) {
    await moveSandboxes(ports, "in use", "turn left", [turn.sandbox]);
  }
  if (isOurs && isLongWait && !turn.released) await releaseSandboxes(ports, position.before);
  return waitForRetry(node, waiting, `: ${outcome.failure.message}`);
}

/**
 * Returns the turn if the state machine has a separate state for the wait before the next attempt. Otherwise throws
 * `NodeRetry`, so that the `Retry` of the task waits.
 */
export function waitForRetry(node: TaskNode, turn: Turn, why = ""): Turn {
  if (isLong(node) || (heedsRetryAfter(node) && waitedSeconds(turn) > ownSeconds(node, turn))) return turn;
  throw new NovaError("NodeRetry", retryText(node, turn) + why);
}

export function retryText({ id, retry }: TaskNode, turn: Turn): string {
  const { attempt } = turn;
  const seconds = Math.max(retry ? secondsAfter(retry, attempt) : 0, waitedSeconds(turn));
  return `node "${id}": attempt ${attempt} failed, attempt ${attempt + 1} begins ${retry?.jitter ? "within" : "in"} ${seconds} s`;
}

function waitedSeconds({ since, due = since }: Pick<Turn, "since" | "due">): number {
  return Math.round((Date.parse(due) - Date.parse(since)) / 1000);
}

/**
 * Returns the seconds for which the `Retry` of Step Functions waits by itself. With jitter they are unknown, so they
 * count as 0.
 */
function ownSeconds(node: TaskNode, { attempt }: Pick<Turn, "attempt">): number {
  return node.retry && !node.retry.jitter ? secondsAfter(node.retry, attempt) : 0;
}

/** The clocks of two machines differ by less than this time. */
const toleranceMs = 1000;

export function isEarly({ clock }: Pick<Ports, "clock">, { due }: Turn): boolean {
  return due !== undefined && clock.now() < Date.parse(due) - toleranceMs;
}

function retryDelay({ clock }: Ports, node: TaskNode, { attempt }: Turn, outcome: FailedOutcome): Delay | undefined {
  const { retry } = node;
  if (!retry || attempt >= retry.attempts || !isRetried(retry, outcome)) return undefined;
  const { retryAfter } = outcome;
  const isAsked = retryAfter !== undefined && heedsRetryAfter(node);
  const least = isAsked ? retryAfterSeconds(retryAfter, clock.now(), retryWaits(retry).longest) : 0;
  return { own: secondsAfter(retry, attempt), least };
}

/** How long to wait for the next attempt, in seconds. `own`: the delay that the node asks for. */
interface Delay {
  own: number;
  /** The delay that a server asked for. The wait is not shorter than this. */
  least: number;
}

function isRetried({ on }: Retry, outcome: FailedOutcome): boolean {
  const { class: name, types = [] } = outcome;
  if (!retriedErrors.includes(name)) return false;
  if (!on) return true;
  return on.map(retriedError).some((wanted) => {
    if (!saysText(outcome, wanted.text)) return false;
    return wanted.name === name || errorAliases[wanted.name] === name || types.some(isNamed(wanted.name));
  });
}

const status = /^[1-5]\d\d$/;
/**
 * Matches the status of an HTTP response in a message. Addresses and ids may contain three digits too, so only a number
 * that stands alone counts as a status.
 */
const statusInMessage = /(?<![\w./:-])[1-5]\d\d(?![\w/-]|\.\d)/;

/**
 * Whether a failure has the text that an entry of `retry.on` requires. Three digits mean the status of an HTTP
 * response; any other text is looked for in the message.
 */
function saysText({ httpStatus, failure: { message } }: FailedOutcome, text: string): boolean {
  if (!status.test(text)) return message.includes(text);
  const found = httpStatus === undefined ? statusInMessage.exec(message)?.[0] : String(httpStatus);
  return found === text;
}

/**
 * Returns a function that checks whether a class has this name. The name may leave out modules: `ConnectionError` and
 * `requests.ConnectionError` both name `requests.exceptions.ConnectionError`.
 */
function isNamed(name: string) {
  const wanted = name.split(".");
  return (type: string): boolean => {
    const parts = type.split(".");
    if (parts.at(-1) !== wanted.at(-1)) return false;
    let found = 0;
    for (const part of parts) if (part === wanted[found]) found++;
    return found === wanted.length;
  };
}

async function isTurnUnchanged({ chain }: Ports, at: EntryId, { sandbox, attempt }: Turn): Promise<boolean> {
  const { turn } = await chain.read(at);
  return turn?.sandbox === sandbox && turn.attempt === attempt;
}

function waitingTurn(ports: Ports, { node, position }: Task, turn: Turn, { own, least }: Delay): Turn {
  const now = ports.clock.now();
  const hasJournal = node.executor.kind !== "code";
  const share = !node.retry?.jitter ? 1 : isLong(node) ? jitterOf(`${entryName(position.at)}.${turn.attempt}`) : 0;
  const kept = hasJournal ? [...(turn.kept ?? []), attemptBoundary] : undefined;
  return {
    node: node.id,
    state: "held",
    sandbox: null,
    attempt: turn.attempt,
    since: new Date(now).toISOString(),
    due: new Date(now + Math.max(Math.ceil(share * own), least) * 1000).toISOString(),
    ...defined({ failedDeliveries: turn.failedDeliveries, times: turn.times, kept, spare: turn.spare }),
  };
}

/** Computes a pseudorandom number between 0 and 1, the same in every delivery. */
function jitterOf(name: string): number {
  return Number.parseInt(sha256(name).slice(0, 8), 16) / 2 ** 32;
}

/** The longest wait for a next attempt during which the scope keeps its sandboxes. */
const maxKeptSeconds = 60;

type StepField =
  | ("step_number" | "step_name" | "agent_name" | "attempt_number" | "sandbox_id")
  | ("status" | "error_message" | "traceback" | "logs" | "execution_time_ms");

/** A step of the chain of work, as stored (format 1): a failed attempt of a node that may have several attempts. */
export interface StepRecord extends Pick<StepDraft, StepField> {
  format: 1;
  error_class?: RunErrorClass;
  /**
   * How long the run waits for the next attempt; with jitter, the longest possible wait. Absent: no attempt follows.
   */
  retry_delay_ms?: number;
  timestamp: string;
}

/**
 * The names that mark a stored step as an attempt of a whole prompt or text node. Other steps are attempts of a model
 * within the node.
 */
export const nodeAttempt = { step_name: "node_attempt", agent_name: "Node" } as const;

const codeAttempt = { step_name: "code_execution", agent_name: "E2BExecutor" } as const;

/**
 * Records a failed attempt as a step, which the entry lists. If another delivery has recorded this attempt already, the
 * step of that delivery stays.
 */
async function recordAttempt(ports: Ports, task: Task, turn: Turn, outcome: FailedOutcome, delaySeconds?: number) {
  const { class: error_class, failure, logs, executionTimeMs } = outcome;
  const { attempt, sandbox } = turn;
  const hasJournal = task.node.executor.kind !== "code";
  const record: StepRecord = {
    format: 1,
    step_number: attempt,
    ...(hasJournal ? nodeAttempt : codeAttempt),
    attempt_number: attempt,
    sandbox_id: sandbox,
    status: "failed",
    error_class,
    error_message: failure.message,
    ...(failure.traceback !== undefined && { traceback: failure.traceback.slice(-leafLimitBytes) }),
    ...(logs !== "" && { logs: logs.slice(-leafLimitBytes) }),
    execution_time_ms: executionTimeMs,
    ...(delaySeconds !== undefined && { retry_delay_ms: delaySeconds * 1000 }),
    timestamp: new Date(ports.clock.now()).toISOString(),
  };
  const text = JSON.stringify(record);
  await ports.chain.putStep(task.position.at, {
    step: hasJournal ? attemptNumber(turn) : attempt,
    text,
    hash: sha256(text),
  });
}

export async function failedAttempts({ chain }: Ports, at: EntryId): Promise<StepRecord[]> {
  const kept = (await chain.steps(at)).filter(({ text }) => text !== "");
  const records = kept.map(({ text }) => JSON.parse(text) as StepRecord);
  return records.filter(({ error_class }) => error_class !== undefined);
}

export async function lastFailure(ports: Ports, at: EntryId): Promise<Reason | undefined> {
  const last = (await failedAttempts(ports, at)).at(-1);
  return last?.error_class && { class: last.error_class, message: last.error_message ?? "" };
}

/** The largest number of attempts for one entry. After the last attempt, a lost sandbox is not replaced. */
const maxAttempts = 3;

/** Whether the code may start again in another sandbox: only with `effects: false`, and not too often. */
export function canChangeSandbox({ effects }: TaskNode, { attempt }: Turn): boolean {
  return effects === false && attempt < maxAttempts;
}

/** Moves the turn to the next attempt, in a new sandbox. The time budget of a prompt node does not start again. */
export async function changeSandbox(ports: Ports, { position, node, version }: Task, from: Turn): Promise<void> {
  // The new sandbox has no pool, so only this execution uses it.
  const { id } = await ports.sandboxes.create(sandboxSpec(position.at, node, version, position.before));
  const since = node.executor.kind === "prompt" ? from.since : new Date(ports.clock.now()).toISOString();
  const { warm: _, ...rest } = from;
  // A prompt node keeps its steps. For a text node with code, the record of each attempt needs its own number.
  const kept = node.executor.kind === "text" && { kept: [...(from.kept ?? []), attemptBoundary] };
  const turn: Turn = { ...rest, ...kept, sandbox: id, attempt: from.attempt + 1, since };
  const isOurs = await ports.chain.putTurn(position.at, turn, from);
  if (!isOurs) return releaseLost(ports, position.at, { sandbox: id, state: "created" });
  if (isLong(node) && from.sandbox !== null) await moveSandboxes(ports, "in use", "turn left", [from.sandbox]);
}
