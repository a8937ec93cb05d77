import {
  defined,
  earlierErrorNames,
  heedsRetryAfter,
  isLong,
  type Retry,
  retriedError,
  retriedErrors,
  retryAfterSeconds,
  retryWaits,
  secondsAfter,
  type TaskNode,
} from "@nova/workflow";
import { linkName } from "../../chain/link-name.ts";
import { attemptBoundary } from "../../chain/steps/step-record.ts";
import { NovaError } from "../../errors.ts";
import type { LinkId, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { Sandbox } from "../../ports/sandboxes.ts";
import { recordAttempt } from "../../protocol/attempts.ts";
import type { FailedOutcome } from "../../protocol/outcome.ts";
import { sha256 } from "../../sha256.ts";
import { canChangeSandbox, moveTurn } from "./place.ts";
import type { Task } from "./task.ts";

/** Whether code of a node may begin more than once: then its turn may move on while another delivery commits. */
export function isRepeatable({ effects, retry }: TaskNode): boolean {
  return effects === false || retry !== undefined;
}

/** How a delivery goes on after a failed attempt: by reading the chain anew, or by leaving a turn that waits. */
type Next = "again" | Turn;

/**
 * What follows a failed attempt, if anything does. Code that changes nothing outside begins at once in another sandbox
 * where its own was lost; where the author wants a retry, the turn waits for the next attempt. The record of the attempt
 * comes first, so that no attempt is ever forgotten. `sound`: the sandbox, where it is sound. Throws `NodeRetry`, behind
 * which Step Functions waits, but for long code, whose waits are states of their own.
 */
export async function nextAttempt(
  ports: Ports,
  task: Task,
  turn: Turn,
  outcome: FailedOutcome,
  sound: Sandbox | null,
): Promise<Next | undefined> {
  const { node, position } = task;
  if (outcome.class === "NodeInterrupted" && canChangeSandbox(node, turn)) {
    await recordAttempt(ports, task, turn, outcome, 0);
    await moveTurn(ports, task, turn);
    return "again";
  }
  const delay = retryDelay(ports, node, turn, outcome);
  const seconds = delay && Math.max(delay.own, delay.least);
  // Its sandbox may be gone because another delivery has come to a next attempt.
  if (seconds === undefined && node.retry && !(await isTurnUnchanged(ports, position.at, turn))) return "again";
  if (seconds !== undefined || turn.attempt > 1) await recordAttempt(ports, task, turn, outcome, seconds);
  if (delay === undefined || seconds === undefined) return undefined;
  const kept = seconds <= keptSeconds ? sound : null;
  const waiting = { ...waitingTurn(ports, task, turn, delay), ...(kept && { warm: kept }) };
  const isOurs = await ports.chain.putTurn(position.at, waiting, turn);
  if (isOurs && !kept && turn.sandbox !== null) await ports.sandboxes.kill(turn.sandbox);
  return waitForRetry(node, waiting, `: ${outcome.failure.message}`);
}

/** The turn, if the wait for its next attempt is a state of its own; else throws `NodeRetry`. */
export function waitForRetry(node: TaskNode, turn: Turn, why = ""): Turn {
  if (isLong(node) || (heedsRetryAfter(node) && waitedSeconds(turn) > ownSeconds(node, turn))) return turn;
  throw new NovaError("NodeRetry", retryText(node, turn) + why);
}

/** That an attempt failed, and when the next one begins. */
export function retryText({ id, retry }: TaskNode, turn: Turn): string {
  const { attempt } = turn;
  const seconds = Math.max(retry ? secondsAfter(retry, attempt) : 0, waitedSeconds(turn));
  return `node "${id}": attempt ${attempt} failed, attempt ${attempt + 1} begins ${retry?.jitter ? "within" : "in"} ${seconds} s`;
}

/** Between the failure of an attempt and the time at which the next one is due. */
function waitedSeconds({ since, due = since }: Pick<Turn, "since" | "due">): number {
  return Math.round((Date.parse(due) - Date.parse(since)) / 1000);
}

/** The part of that which is the node's own delay: only Step Functions knows the jitter of its own waits. */
function ownSeconds(node: TaskNode, { attempt }: Pick<Turn, "attempt">): number {
  return node.retry && !node.retry.jitter ? secondsAfter(node.retry, attempt) : 0;
}

/** Clocks differ by less. */
const toleranceMs = 1000;

/** Whether a turn waits for its next attempt, and it is not yet time. */
export function isEarly({ clock }: Pick<Ports, "clock">, { due }: Turn): boolean {
  return due !== undefined && clock.now() < Date.parse(due) - toleranceMs;
}

/** Seconds until the next attempt where the node's author wants one after this failure. */
function retryDelay({ clock }: Ports, node: TaskNode, { attempt }: Turn, outcome: FailedOutcome): Delay | undefined {
  const { retry } = node;
  if (!retry || attempt >= retry.attempts || !isRetried(retry, outcome)) return undefined;
  const { retryAfter } = outcome;
  const isAsked = retryAfter !== undefined && heedsRetryAfter(node);
  const least = isAsked ? retryAfterSeconds(retryAfter, clock.now(), retryWaits(retry).longest) : 0;
  return { own: secondsAfter(retry, attempt), least };
}

/** Seconds: what the node says, with jitter at most, and what a server asked for at least. */
interface Delay {
  own: number;
  least: number;
}

function isRetried({ on }: Retry, outcome: FailedOutcome): boolean {
  const { class: name, types = [] } = outcome;
  if (!retriedErrors.includes(name)) return false;
  if (!on) return true;
  return on.map(retriedError).some((wanted) => {
    if (!saysText(outcome, wanted.text)) return false;
    return wanted.name === name || earlierErrorNames[wanted.name] === name || types.some(isNamed(wanted.name));
  });
}

const status = /^[1-5]\d\d$/;
/** In an address or an id there may be any digits: a status stands alone, and is the first that does. */
const statusInMessage = /(?<![\w./:-])[1-5]\d\d(?![\w/-]|\.\d)/;

/** Three digits are the status of an HTTP response, other text is a part of the message. */
function saysText({ httpStatus, failure: { message } }: FailedOutcome, text: string): boolean {
  if (!status.test(text)) return message.includes(text);
  const found = httpStatus === undefined ? statusInMessage.exec(message)?.[0] : String(httpStatus);
  return found === text;
}

/** `ConnectionError` and `requests.ConnectionError` name `requests.exceptions.ConnectionError`: modules may be left out. */
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

async function isTurnUnchanged({ chain }: Ports, at: LinkId, { sandbox, attempt }: Turn): Promise<boolean> {
  const { turn } = await chain.read(at);
  return turn?.sandbox === sandbox && turn.attempt === attempt;
}

/** Between two attempts a turn names no sandbox. Only Step Functions knows the jitter of its own waits. */
function waitingTurn(ports: Ports, { node, position }: Task, turn: Turn, { own, least }: Delay): Turn {
  const now = ports.clock.now();
  const hasJournal = node.executor.kind !== "code";
  const share = !node.retry?.jitter ? 1 : isLong(node) ? drawn(`${linkName(position.at)}.${turn.attempt}`) : 0;
  const kept = hasJournal ? [...(turn.kept ?? []), attemptBoundary] : undefined;
  return {
    ...{ node: node.id, state: "held", sandbox: null, attempt: turn.attempt, since: new Date(now).toISOString() },
    due: new Date(now + Math.max(Math.ceil(share * own), least) * 1000).toISOString(),
    ...defined({ failedDeliveries: turn.failedDeliveries, kept, spare: turn.spare }),
  };
}

/** Between 0 and 1, the same for every delivery. */
function drawn(name: string): number {
  return Number.parseInt(sha256(name).slice(0, 8), 16) / 2 ** 32;
}

/** Longer than this no sandbox is kept for a next attempt. */
const keptSeconds = 60;
