import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import {
  type Answered,
  answerTask,
  callLink,
  deliverEvent,
  executionOf,
  executionOfToken,
  RawJson,
  type ResumeLink,
  renderJson,
  type TaskContents,
  type TaskName,
  taskContents,
  type WaitingTask,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandAllClients, reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { NotFound, Refused } from "../errors.ts";
import { executionWithin } from "../executions/executions.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";
import type { BusEvent } from "../ports/triggers.ts";

/** Lists open tasks within the caller's reach, oldest first. It reads no tasks of other clients, and none of earlier pages. */
export async function listTasks(
  { tasks, clock }: ServicePorts,
  by: Principal,
  { limit, cursor = "", kind = "approval" }: PageQuery & { kind?: WaitingTask["kind"] | undefined },
): Promise<Page<WaitingTask>> {
  const now = new Date(clock.now()).toISOString();
  const [from = ""] = cursor.split("#");
  const since = from === "" ? undefined : from;
  const found: WaitingTask[] = [];
  for await (const task of by.client === null ? tasks.pending(since) : tasks.pendingOf(by.client, kind, since)) {
    const isOpen = task.kind === kind && task.status === "open" && task.expiresAt > now;
    if (!isOpen || positionOf(task) <= cursor) continue;
    found.push(task);
    if (found.length > limit) break;
  }
  return pageFrom(found, limit, positionOf);
}

function positionOf({ createdAt, id }: WaitingTask): string {
  return `${createdAt}#${id}`;
}

export interface TaskAnswer {
  choice: string;
  /** JSON text. */
  data?: string;
  /** Name of the person who answers; absent: the name of the key. */
  as?: string;
}

/** The name of a task. A caller may also name the execution and the node to which the task must belong. */
export type NamedTask = TaskName | { task: string; execution: string; node?: string };

/** Answers a task. Throws `NotFound`, `ExecutionNotFound`; `AnswerMisfit`; `AnswerRefused` if no task waits, or several match. */
export async function answer(
  ports: ServicePorts,
  by: Principal,
  name: NamedTask,
  { choice, data, as }: TaskAnswer,
): Promise<Answered> {
  const client = await clientOf(ports, by, name);
  const who = as ?? (by.name || by.id);
  const from = `the API as ${by.id}`;
  const answered = await answerTask(ports, { ...name, choice, by: who, from, ...defined({ data }) });
  const subject = answered.task.id;
  await recordDeed(ports, by, { action: "task.answered", client, subject, detail: { choice, as: who } });
  return answered;
}

async function clientOf(ports: ServicePorts, by: Principal, name: NamedTask): Promise<string> {
  if (!("task" in name)) return (await executionWithin(ports, by, name.execution)).client;
  const task = await taskWithin(ports, by, name.task);
  if ("execution" in name) demandPlace(task, name);
  return task.client;
}

function demandPlace(task: WaitingTask, { execution, node }: { execution: string; node?: string }): void {
  if (task.execution === execution && (node === undefined || task.node === node)) return;
  const what = node === undefined ? execution : `node "${node}" of ${execution}`;
  const owner = `it belongs to node "${task.node}" of ${task.execution}`;
  throw new NotFound(`${what} has no task "${task.id}": ${owner} - POST /tasks/${task.id} answers it`);
}

async function taskWithin(ports: ServicePorts, by: Principal, id: string) {
  const task = await ports.tasks.find(id);
  const client = task && (await ports.executions.get(task.execution))?.client;
  if (task && client !== undefined && reaches(by, client)) return { ...task, client };
  throw new NotFound(`there is no task "${id}" - GET /tasks lists those that wait`);
}

/**
 * Returns a task with the contents from its chain. A task whose time is over is returned as `expired`, even if its
 * record does not say so yet. Throws `NotFound`.
 */
export async function readTask(ports: ServicePorts, by: Principal, id: string): Promise<WaitingTask & TaskContents> {
  const task = await taskWithin(ports, by, id);
  const isOver = task.status === "open" && Date.parse(task.expiresAt) <= ports.clock.now();
  return { ...task, ...(isOver && { status: "expired" }), ...(await taskContents(ports, task)) };
}

/** The hash that is compared if no link is found. No token has this hash. */
const unmatchableHash = "0".repeat(64);

/** Finds the resume link of an id and a token. Throws `TooMany`, and the same `NotFound` for every mistake. */
export async function resumeLink(ports: ServicePorts, id: string, token: string): Promise<ResumeLink> {
  await ports.rates?.take({ id: `link ${id}`, client: null });
  const execution = executionOfToken(token);
  const link = execution === undefined ? undefined : await ports.resumeLinks.get({ execution, id });
  const digest = createHash("sha256").update(token).digest();
  const isRight = timingSafeEqual(digest, Buffer.from(link?.tokenHash ?? unmatchableHash, "hex"));
  if (link && isRight) return link;
  throw new NotFound(`there is no task "${id}" for this token - call the link as it was handed out, whole`);
}

/**
 * Passes JSON text to a wait. Returns true if the wait has received it, and false if the wait has not started yet and
 * receives it when it starts. Throws `AnswerRefused`, `WaitOver`.
 */
export async function resume(ports: ServicePorts, link: ResumeLink, text: string): Promise<boolean> {
  return callLink(ports, link, await executionOf(ports, link.execution), text);
}

function envelopeOf({ source, type, detail }: BusEvent, at: Date): { id: string; text: string } {
  const id = randomUUID();
  const around = { version: "0", id, "detail-type": type, source, account: "000000000000", time: at.toISOString() };
  return { id, text: renderJson({ ...around, resources: [], detail: new RawJson(detail) }) };
}

/** Delivers an event directly to waiting runs of all clients, without a bus. Throws `Forbidden`. */
export async function emit(
  ports: ServicePorts,
  by: Principal,
  event: BusEvent,
): Promise<{ id: string; tasks: WaitingTask[] }> {
  demandAllClients(by);
  const { id, text } = envelopeOf(event, new Date(ports.clock.now()));
  return { id, tasks: await deliverEvent(ports, text) };
}

/** Sources that belong to NOVA and AWS. */
const reserved = /^(nova|aws\..*)$/;

/** Puts an event on the bus for triggers and waiting runs of all clients; returns its id. Throws `Forbidden`, `Refused`. */
export async function putEvent({ bus }: Pick<ServicePorts, "bus">, by: Principal, event: BusEvent): Promise<string> {
  demandAllClients(by);
  if (reserved.test(event.source)) {
    throw new Refused(`the source "${event.source}" is reserved - choose another one, such as shop.orders`);
  }
  return bus.put(event);
}
