import { contextAfter, type Position } from "../../chain/position.ts";
import { slimText } from "../../context/references.ts";
import { recoverFrom } from "../../errors.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { defaultNext, followChoice } from "../../protocol/definition.ts";
import { buildSuccess, factsWithoutCode, type SuccessOutcome } from "../../protocol/outcome.ts";
import { refreshStatus } from "../../protocol/record.ts";
import { castVote } from "./cast-vote.ts";
import {
  type Answer,
  AnswerRefused,
  choiceOutcome,
  decidedBefore,
  findTask,
  fittingData,
  noChoice,
  type TaskName,
  termsOf,
  trySendAnswer,
  type Waiting,
  waitingAt,
} from "./waiting-task.ts";

export interface Answered {
  task: WaitingTask;
  /** A time in ISO 8601. */
  at: string;
  /** False: the answer is in the chain but did not reach Step Functions, and the sweeper sends it later. */
  sent: boolean;
  /**
   * Only for an approval with approvers: how many further people must make this choice. At 0 the vote has decided.
   */
  missing?: number;
}

const longestName = 200;

/**
 * Answers an approval: first in the chain, then at Step Functions. Checks in this order: the choice exists, the task
 * still waits, the data fits the form. If the approval has approvers, the answer is a vote. Throws `AnswerMisfit` if
 * choice or data do not fit, and `AnswerRefused` if no task waits for the answer. Throws `ApproverRefused` if the
 * person may not answer, and `ExecutionNotFound` if there is no such run.
 */
export async function answerTask(ports: Ports, request: TaskName & Answer): Promise<Answered> {
  const task = await findTask(ports, request);
  if (task.approvers) return castVote(ports, task, request);
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
  const answer = async () => {
    const waiting = await waitingAt(ports, task);
    const { before, next } = waiting.position;
    const set = { key: termsOf(waiting.node).into, json: await make(before) };
    await commitAnswer(ports, waiting, buildSuccess(defaultNext(waiting), factsWithoutCode(ports, next.turn), [set]));
    return true;
  };
  return answer().catch(recoverFrom(AnswerRefused, () => false));
}

/** Continues the run with an event; `text` is its original JSON text. */
export function handOverEvent(ports: Ports, task: WaitingTask, text: string): Promise<boolean> {
  return handOver(ports, task, (home) => slimText(ports, home, text));
}

/** Builds the value of the answer for the context. Large parts of its data are in blobs. */
async function answerText(
  ports: Ports,
  { before }: Position,
  { choice, data, by, at, from }: Required<Pick<Answer, "choice" | "data" | "by" | "from">> & { at: string },
): Promise<string> {
  const slim = await slimText(ports, before, data);
  const text = (value: string) => JSON.stringify(value.slice(0, longestName));
  return `{"choice":${JSON.stringify(choice)},"data":${slim},"by":${text(by)},"at":"${at}","from":${text(from)}}`;
}
