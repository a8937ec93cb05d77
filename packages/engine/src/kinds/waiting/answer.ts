import { checkData, deepestNesting, measureOf, type WrittenJson } from "@nova/workflow";
import { contextAfter, type Position } from "../../chain/position.ts";
import { slimText } from "../../context/offload.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { TaskKey, WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { defaultNext, followChoice } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { codeless, type SuccessOutcome, succeeded } from "../../protocol/outcome.ts";
import { refreshStatus } from "../../protocol/status.ts";
import { sha256 } from "../../sha256.ts";
import { findTask, type TaskName } from "./find-task.ts";
import { AnswerMisfit, AnswerRefused, decidedBefore } from "./refusals.ts";
import { chosen, termsOf } from "./waiting-node.ts";
import { type Waiting, waitingAt } from "./waiting-task.ts";

export interface Answer {
  choice: string;
  /** JSON text of what comes with it. */
  data?: string;
  /** Who says so. */
  by: string;
  /** By which way: `nova approve on <host>`, a page, an address. */
  from: string;
}

export interface Answered {
  task: WaitingTask;
  /** ISO 8601. */
  at: string;
  /** False: it is in the chain, but Step Functions could not be told; the sweeper does it. */
  sent: boolean;
}

const longestName = 200;

/**
 * Answers an approval: into the chain first, then to Step Functions. One that was answered, expired or closed before is
 * refused, whoever was faster: the chain decides. It is asked in this order: is it one of the choices, does the task
 * still wait, does the data fit the form. Throws `AnswerMisfit`, `AnswerRefused`, `ExecutionNotFound`.
 */
export async function answerTask(ports: Ports, request: TaskName & Answer): Promise<Answered> {
  const task = await findTask(ports, request);
  if (task.kind !== "approval") throw new AnswerRefused(`task ${task.id} waits for an event - nova emit sends one`);
  if (!task.choices.includes(request.choice)) throw noChoice(task, request.choice);
  const waiting = await waitingAt(ports, task);
  const way = followChoice(waiting, request.choice, waiting.position.before.loops);
  if (!way) throw noChoice(task, request.choice);
  const data = await fittingData(task, request);
  const at = new Date(ports.clock.now()).toISOString();
  const json = await answerText(ports, waiting.position, { ...request, data, at });
  const { turn } = waiting.position.next;
  const set = { key: termsOf(waiting.node).into, json };
  const sent = await commitAnswer(ports, waiting, chosen(way, set, codeless(ports, turn)), at);
  return { task, at, sent };
}

function noChoice({ node, choices }: WaitingTask, choice: string): AnswerMisfit {
  return new AnswerMisfit(`"${choice}" is no choice of "${node}" - choose ${choices.join(" or ")}`);
}

/**
 * The record says first that an answer is under way, so that a sweeper looks after it; then the chain. Answers whether
 * Step Functions knows. Throws `AnswerRefused` when somebody else was faster.
 */
async function commitAnswer(
  ports: Ports,
  { task, position, node }: Waiting,
  outcome: SuccessOutcome,
  at = new Date(ports.clock.now()).toISOString(),
): Promise<boolean> {
  await ports.tasks.move(task, ["open"], "answered", at);
  const entry = await commitOutcome(ports, position, node, outcome);
  const [ours] = outcome.changes.set;
  const { into } = termsOf(node);
  const isOurs = !ours || (await contextAfter(entry, ports.blobs)).context.slot(into)?.json === ours.json;
  if (!isOurs) throw await decidedBefore(ports, task, into, entry);
  const sent = await told(ports, task, entry);
  await refreshStatus(ports, task.execution);
  return sent;
}

/** Goes on with what came for a task: JSON text as a context keeps it. False when the task waits no longer. */
export async function handOver(
  ports: Ports,
  task: WaitingTask,
  make: (home: BlobHome) => Promise<string>,
): Promise<boolean> {
  try {
    const waiting = await waitingAt(ports, task);
    const { before, next } = waiting.position;
    const set = { key: termsOf(waiting.node).into, json: await make(before) };
    await commitAnswer(ports, waiting, succeeded(defaultNext(waiting), codeless(ports, next.turn), [set]));
    return true;
  } catch (error) {
    if (error instanceof AnswerRefused) return false;
    throw error;
  }
}

/** Goes on with an event, its JSON text as it came. */
export function handOverEvent(ports: Ports, task: WaitingTask, text: string): Promise<boolean> {
  return handOver(ports, task, (home) => slimText(ports, home, text));
}

async function told(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<boolean> {
  try {
    await sendAnswer(ports, task, entry);
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

/** What the data of an answer with this choice has to be like. */
export function formOf({ form, forms }: Pick<WaitingTask, "form" | "forms">, choice: string): WrittenJson | undefined {
  return forms && Object.hasOwn(forms, choice) ? forms[choice] : form;
}

/** JSON text of the data, checked against the form of the choice. Without a form anything may come, or nothing. */
async function fittingData(task: WaitingTask, { choice, data }: Answer): Promise<string> {
  const form = formOf(task, choice);
  const text = data?.trim() ?? (form ? "{}" : "null");
  if (measureOf(text).depth > deepestNesting) {
    throw new AnswerMisfit(`the data is nested more than ${deepestNesting} levels deep - pass it as text`);
  }
  const problems = form ? await checkData(form, text) : [];
  if (problems.length > 0)
    throw new AnswerMisfit(`the form of "${task.node}" refuses the data: ${problems.join("; ")}`);
  return text;
}

/** The value that the context gets; what is large in the data lies in blobs. */
async function answerText(
  ports: Ports,
  { before }: Position,
  { choice, data, by, at, from }: Required<Answer> & { at: string },
): Promise<string> {
  const slim = await slimText(ports, before, data);
  const text = (value: string) => JSON.stringify(value.slice(0, longestName));
  return `{"choice":${JSON.stringify(choice)},"data":${slim},"by":${text(by)},"at":"${at}","from":${text(from)}}`;
}

/** What a sealed token is bound to: it opens for no other task. */
function bondOf({ execution, id }: TaskKey): Record<string, string> {
  return { execution, task: id };
}

export async function keepToken(ports: Ports, task: TaskKey, token: string): Promise<void> {
  const sealed = await ports.vault.seal(token, bondOf(task));
  await ports.tasks.putToken(task, { key: sha256(token).slice(0, 32), sealed });
}

/** Hands the committed outcome to Step Functions, with every token that was given out for it; most of them are dead. */
export async function sendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<void> {
  const output = JSON.stringify(await answerFor(entry, eventOf(task), ports));
  for (const { sealed } of await ports.tasks.tokens(task)) {
    await ports.stateMachines.answerTask(await ports.vault.open(sealed, bondOf(task)), output);
  }
  await ports.tasks.move(task, ["open", "answered"], "sent");
}
