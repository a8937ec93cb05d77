import {
  type ApprovalNode,
  checkData,
  deepestNesting,
  defined,
  type JsonObject,
  type Member,
  measureOf,
  type Node,
  nodeIndex,
  type RawJson,
  type WaitNode,
  type WrittenJson,
} from "@nova/workflow";
import { headOf } from "../../chain/entry.ts";
import { contextAfter, failureOf, type Position, readPosition } from "../../chain/position.ts";
import { recoverFrom, StoreUnavailable } from "../../errors.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Execution } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { Person } from "../../ports/people.ts";
import type { TaskKey, WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { definitionOf, type FollowedChoice, type NodeDefinition } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { buildSuccess, type OutcomeFacts, type SuccessOutcome } from "../../protocol/outcome.ts";
import { executionOf } from "../../protocol/record.ts";
import { sha256 } from "../../sha256.ts";

export interface Waiting extends NodeDefinition<WaitingNode> {
  task: WaitingTask;
  position: Position;
}

/**
 * Reads the node of a task, its position in the chain, and its held turn. Throws `AnswerRefused` if the task no longer
 * waits.
 */
export async function waitingAt(ports: Ports, task: WaitingTask): Promise<Waiting> {
  const event = eventOf(task);
  const definition = await definitionOf(ports, event);
  const { node } = definition;
  if (!isWaitingNode(node)) throw runIsOver(task);
  const { execution, scope, seq } = task;
  const position = await readPosition(ports, { execution, scope, seq });
  const { entry, turn } = position.next;
  if (entry) throw await decidedBefore(ports, task, termsOf(node).into, entry);
  if (turn?.state !== "held") throw runIsOver(task);
  if (Date.parse(task.expiresAt) <= ports.clock.now())
    throw new AnswerRefused(
      `"${task.node}" expired at ${task.expiresAt} - nova trace ${execution} shows what followed`,
    );
  return { ...definition, task, position, node };
}

/** Thrown for an answer that no open task can take. The message says why, and what to do. */
export class AnswerRefused extends Error {
  override name = "AnswerRefused";
}

/** Thrown for an answer with a choice or data that do not fit an open task. */
export class AnswerMisfit extends AnswerRefused {
  override name = "AnswerMisfit";
}

export interface KeptAnswer {
  choice: string;
  by: string | null;
  at: string;
  from: string | null;
}

export async function decidedBefore(ports: Ports, task: WaitingTask, into: string, entry: StoredEntry) {
  const head = headOf(entry);
  if (head.node_type === "close") return runIsOver(task);
  if (head.status === "failed") {
    const { message } = await failureOf(entry, ports.blobs);
    const why = `${message} - nova trace ${task.execution} shows it`;
    return new AnswerRefused(`"${task.node}" takes no answer any more: ${why}`);
  }
  if (task.kind === "event") return new AnswerRefused(`"${task.node}" has what it waited for, since ${head.timestamp}`);
  const { context } = await contextAfter(entry, ports.blobs);
  const { choice, by, at, from } = JSON.parse(context.slot(into)?.json ?? "{}") as Partial<KeptAnswer>;
  if (by === null) return new AnswerRefused(`"${task.node}" expired at ${at} and went on as "${choice}"`);
  return new AnswerRefused(`"${task.node}" was already answered by ${by} at ${at}: ${choice} (${from})`);
}

export function runIsOver({ execution }: Pick<WaitingTask, "execution">): AnswerRefused {
  return new AnswerRefused(`execution ${execution} is over - nova trace ${execution} shows how it ended`);
}

export type EventNode = WaitNode & { for: { kind: "event" } };

/** A node whose outcome comes from outside the run: a person or an event answers its task token. */
export type WaitingNode = ApprovalNode | EventNode;

export function isWaitingNode(node: Node): node is WaitingNode {
  return node.type === "approval" || (node.type === "wait" && node.for.kind === "event");
}

/** The fields that approvals and waits for events share. `into` is the key of the context that takes the answer. */
interface Terms
  extends Pick<WaitingTask, "kind" | "choices" | "to" | "form" | "forms" | "approvers" | "remindSeconds" | "notify"> {
  timeoutSeconds: number;
  into: string;
}

export function termsOf(node: WaitingNode): Terms {
  if (node.type === "wait") {
    const { timeoutSeconds, into } = node.for;
    return { kind: "event", timeoutSeconds, into, choices: [], to: [] };
  }
  const { timeoutSeconds, into, choices, to, form, forms, approvers, remindSeconds, notify } = node;
  return defined({
    kind: "approval" as const,
    timeoutSeconds,
    into,
    choices,
    to,
    form,
    forms,
    approvers,
    remindSeconds,
    notify,
  });
}

export function choiceOutcome(way: FollowedChoice, set: Member, facts: OutcomeFacts): SuccessOutcome {
  return { ...buildSuccess(null, facts, [set]), ...way, more: { ...facts.more, ...way.more } };
}

/**
 * Describes for what a running node waits: a time, a retry, a workflow, an approval or an event. Field names are
 * public. `until` is ISO 8601, and null if no time ends the wait.
 */
export type WaitsFor =
  | { kind: "time"; until: string | null }
  | { kind: "retry"; until: string }
  | { kind: "workflow"; until: null; execution_id: string }
  | { kind: "approval"; until: string | null; task_id: string; message: string; choices: string[] }
  | { kind: "event"; until: string | null; task_id: string; pattern: RawJson | null };

/**
 * Names a task by its id, or by run and node. An answer without an id may repeat an earlier answer, so it never counts
 * for the next approval of the same node.
 */
export type TaskName = { task: string } | { execution: string; node?: string };

/**
 * Finds the one task that a name identifies. Throws `AnswerRefused` if the name identifies no task or several tasks,
 * and `ExecutionNotFound` if the run does not exist.
 */
export async function findTask(ports: Ports, name: TaskName): Promise<WaitingTask> {
  if ("task" in name) {
    const task = await ports.tasks.find(name.task);
    if (!task) throw new AnswerRefused(`there is no task "${name.task}" - nova tasks lists the open ones`);
    return task;
  }
  const { execution, node } = name;
  const isMeant = (task: WaitingTask) => task.kind === "approval" && (node === undefined || task.node === node);
  const [task, ...others] = (await ports.tasks.ofExecution(execution)).filter(isMeant);
  if (!task) throw await notWaiting(ports, await executionOf(ports, execution), node);
  if (others.length === 0) return task;
  throw await severalAsked(ports, node === undefined ? execution : `"${node}"`, [task, ...others]);
}

/**
 * Builds the refusal of an answer that could be for several tasks. The refusal names the open tasks. It also names the
 * latest decision, because the answer may be a repetition.
 */
async function severalAsked(ports: Ports, what: string, tasks: readonly WaitingTask[]): Promise<AnswerRefused> {
  const ended = tasks.filter(({ status }) => status !== "open");
  const latest = ended.toSorted((a, b) => endOf(a).localeCompare(endOf(b))).at(-1);
  const decided =
    latest &&
    (await waitingAt(ports, latest).then(
      () => undefined,
      recoverFrom(AnswerRefused, (refusal) => refusal),
    ));
  const over = decided && latest;
  const open = tasks.filter((task) => task !== over && (task.status === "open" || task.status === "answered"));
  if (!decided) return new AnswerRefused(`${what} waits for ${open.length} answers - ${advice(open)}`);
  if (open.length === 0) return decided;
  return new AnswerRefused(`${what} has asked ${tasks.length} times, and ${decided.message} - ${advice(open)}`);
}

function endOf({ answeredAt, expiresAt }: WaitingTask): string {
  return answeredAt ?? expiresAt;
}

const maxNamed = 10;

function advice(open: readonly WaitingTask[]): string {
  const named = open.slice(0, maxNamed).map(({ id, node }) => `${id} (${node})`);
  const more = open.length > maxNamed ? `, and ${open.length - maxNamed} more` : "";
  return `name the task to answer: ${named.join(", ")}${more}`;
}

async function notWaiting(ports: Ports, record: Execution, id: string | undefined): Promise<AnswerRefused> {
  const version = await ports.workflows.get(record.workflowId, record.version);
  const nodes = version ? Array.from(nodeIndex(version.workflow).values(), ({ node }) => node) : [];
  const approvals = nodes.flatMap((node) => (node.type === "approval" ? [node.id] : []));
  if (approvals.length === 0 || (id !== undefined && !approvals.includes(id))) {
    const advice =
      approvals.length > 0 ? `its approvals are ${approvals.map((one) => `"${one}"`).join(", ")}` : "it has none";
    const what = id === undefined ? "no approval" : `no approval "${id}"`;
    return new AnswerRefused(`workflow "${record.workflowId}" has ${what} - ${advice}`);
  }
  if (!record.open) return runIsOver({ execution: record.id });
  const what = id === undefined ? record.id : `"${id}"`;
  return new AnswerRefused(`${what} does not wait for an answer yet - nova tasks lists what does`);
}

/** The detail of the event `execution.waiting`. */
export function waitingDetail(ports: Ports, task: WaitingTask): JsonObject {
  return {
    execution_id: task.execution,
    workflow: task.workflowId,
    version: task.version,
    node: task.node,
    task_id: task.id,
    kind: task.kind,
    message: task.message,
    choices: task.choices,
    to: task.to,
    expires_at: task.expiresAt,
    link: ports.links.toTask(task),
  };
}

export interface Answer {
  choice: string;
  data?: string;
  /** The name of the author, as the caller claims it. An approval with approvers trusts only `person`. */
  by: string;
  /** The source of the answer: `nova approve on <host>`, a page, an address. */
  from: string;
  /** The person who answers, as NOVA has proved it. */
  person?: Person;
  /** The name that the body of a request claims. An approval with approvers stores it beside the proved identity. */
  claimed?: string;
}

export function noChoice({ node, choices }: WaitingTask, choice: string): AnswerMisfit {
  return new AnswerMisfit(`"${choice}" is no choice of "${node}" - choose ${choices.join(" or ")}`);
}

export function formOf({ form, forms }: Pick<WaitingTask, "form" | "forms">, choice: string): WrittenJson | undefined {
  return forms && Object.hasOwn(forms, choice) ? forms[choice] : form;
}

/**
 * Checks the data against the form of the choice, and returns the data as JSON text. If the choice has no form, any
 * data fit, and data may be missing.
 */
export async function fittingData(task: WaitingTask, { choice, data }: { choice: string; data?: string }) {
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

/** Returns the encryption context of a task token. With this context, the token can be decrypted for this task only. */
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

/** Calls `sendAnswer`, and returns true. Returns false if DynamoDB or Step Functions does not respond. */
export async function trySendAnswer(ports: Ports, task: WaitingTask, entry: StoredEntry): Promise<boolean> {
  return sendAnswer(ports, task, entry).then(
    () => true,
    recoverFrom(StoreUnavailable, () => false),
  );
}
