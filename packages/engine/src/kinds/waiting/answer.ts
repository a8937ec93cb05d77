import { checkData, deepestNesting, measureOf, type WrittenJson } from "@nova/workflow";
import { contextAfter, type Position } from "../../chain/position.ts";
import { slimText } from "../../context/references.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { TaskKey, WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { defaultNext, followChoice } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { buildSuccess, factsWithoutCode, type SuccessOutcome } from "../../protocol/outcome.ts";
import { refreshStatus } from "../../protocol/record.ts";
import { sha256 } from "../../sha256.ts";
import {
  AnswerMisfit,
  AnswerRefused,
  choiceOutcome,
  decidedBefore,
  findTask,
  type TaskName,
  termsOf,
  type Waiting,
  waitingAt,
} from "./waiting-task.ts";

export interface Answer {
  choice: string;
  data?: string;
  by: string;
  /** The source of the answer: `nova approve on <host>`, a page, an address. */
  from: string;
}

export interface Answered {
  task: WaitingTask;
  /** ISO 8601. */
  at: string;
  /** False: the answer is in the chain but did not reach Step Functions, and the sweeper sends it later. */
  sent: boolean;
}

const longestName = 200;

/**
 * Answers an approval: first in the chain, then at Step Functions. Checks in this order: the choice exists, the task
 * still waits, the data fits the form. Throws `AnswerMisfit`, `AnswerRefused`, `ExecutionNotFound`.
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
  const sent = await commitAnswer(ports, waiting, choiceOutcome(way, set, factsWithoutCode(ports, turn)), at);
  return { task, at, sent };
}

function noChoice({ node, choices }: WaitingTask, choice: string): AnswerMisfit {
  return new AnswerMisfit(`"${choice}" is no choice of "${node}" - choose ${choices.join(" or ")}`);
}

/**
 * Marks the task as answered before it writes the chain, so that the sweeper finds the task if this process dies in
 * between. Returns whether Step Functions has the answer.
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
  const sent = await trySendAnswer(ports, task, entry);
  await refreshStatus(ports, task.execution);
  return sent;
}

/** Continues the run of a task with the value that `make` returns. Returns false if the task no longer waits. */
export async function handOver(ports: Ports, task: WaitingTask, make: (home: BlobHome) => Promise<string>) {
  try {
    const waiting = await waitingAt(ports, task);
    const { before, next } = waiting.position;
    const set = { key: termsOf(waiting.node).into, json: await make(before) };
    await commitAnswer(ports, waiting, buildSuccess(defaultNext(waiting), factsWithoutCode(ports, next.turn), [set]));
    return true;
  } catch (error) {
    if (error instanceof AnswerRefused) return false;
    throw error;
  }
}

/** Continues the run with an event; `text` is its original JSON text. */
export function handOverEvent(ports: Ports, task: WaitingTask, text: string): Promise<boolean> {
  return handOver(ports, task, (home) => slimText(ports, home, text));
}

async function trySendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<boolean> {
  try {
    await sendAnswer(ports, task, entry);
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

export function formOf({ form, forms }: Pick<WaitingTask, "form" | "forms">, choice: string): WrittenJson | undefined {
  return forms && Object.hasOwn(forms, choice) ? forms[choice] : form;
}

/**
 * Returns the data as JSON text, after it has checked them against the form of the choice. Without a form any data are
 * accepted, or none.
 */
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

/** Builds the value of the answer for the context. Large parts of its data are in blobs. */
async function answerText(
  ports: Ports,
  { before }: Position,
  { choice, data, by, at, from }: Required<Answer> & { at: string },
): Promise<string> {
  const slim = await slimText(ports, before, data);
  const text = (value: string) => JSON.stringify(value.slice(0, longestName));
  return `{"choice":${JSON.stringify(choice)},"data":${slim},"by":${text(by)},"at":"${at}","from":${text(from)}}`;
}

/** The encryption context of a task token: the token can be decrypted for this task only. */
function bondOf({ execution, id }: TaskKey): Record<string, string> {
  return { execution, task: id };
}

export async function keepToken(ports: Ports, task: TaskKey, token: string): Promise<void> {
  const sealed = await ports.vault.seal(token, bondOf(task));
  await ports.tasks.putToken(task, { key: sha256(token).slice(0, 32), sealed });
}

/**
 * Sends the committed outcome to Step Functions with every token of the task, because NOVA does not know which token is
 * still valid.
 */
export async function sendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<void> {
  const output = JSON.stringify(await answerFor(entry, eventOf(task), ports));
  for (const { sealed } of await ports.tasks.tokens(task)) {
    await ports.stateMachines.answerTask(await ports.vault.open(sealed, bondOf(task)), output);
  }
  await ports.tasks.move(task, ["open", "answered"], "sent");
}
