import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import * as engine from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandAllClients, reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Forbidden, NotFound, Refused } from "../errors.ts";
import { executionWithin } from "../executions/executions.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";
import type { BusEvent } from "../ports/triggers.ts";

/**
 * Lists the open tasks that the caller may see, oldest first. It does not read tasks of other clients, or tasks of
 * earlier pages.
 */
export async function listTasks(
  ports: ServicePorts,
  by: Principal,
  { limit, cursor = "", kind = "approval", mine = false }: TaskQuery,
): Promise<Page<engine.WaitingTask>> {
  const { tasks, clock } = ports;
  const { person } = by;
  if (mine && !person)
    throw new Forbidden(
      "this key names no person, so no task is its own - use the key of a person (nova keys create --identity), or sign in",
    );
  const now = new Date(clock.now()).toISOString();
  const [from = ""] = cursor.split("#");
  const since = from === "" ? undefined : from;
  const found: engine.WaitingTask[] = [];
  for await (const task of by.client === null ? tasks.pending(since) : tasks.pendingOf(by.client, kind, since)) {
    const isOpen = task.kind === kind && task.status === "open" && task.expiresAt > now;
    if (!isOpen || positionOf(task) <= cursor) continue;
    if (mine && person && !(await mayVote(ports, task, person))) continue;
    found.push(task);
    if (found.length > limit) break;
  }
  return pageFrom(found, limit, positionOf);
}

export interface TaskQuery extends PageQuery {
  kind?: engine.WaitingTask["kind"] | undefined;
  /** Whether to list only the tasks on which the caller may vote now. */
  mine?: boolean | undefined;
}

async function mayVote(ports: ServicePorts, task: engine.WaitingTask, person: engine.Person): Promise<boolean> {
  if (!engine.mayConcern(task, person)) return false;
  return (await engine.readVoting(ports, task, person))?.refusal === null;
}

function positionOf({ createdAt, id }: engine.WaitingTask): string {
  return `${createdAt}#${id}`;
}

export interface TaskAnswer {
  choice: string;
  /** The data of the answer as JSON text. */
  data?: string;
  /** Name of the person who answers; absent: the name of the key. */
  as?: string;
}

/** The name of a task. A caller may also name the execution and the node to which the task must belong. */
export type NamedTask = engine.TaskName | { task: string; execution: string; node?: string };

/**
 * Answers a task. Throws `NotFound`, `ExecutionNotFound`, `AnswerMisfit`, and `AnswerRefused` if no task waits or
 * several tasks match.
 */
export async function answer(ports: ServicePorts, by: Principal, name: NamedTask, { choice, data, as }: TaskAnswer) {
  const client = await clientOf(ports, by, name);
  const who = as ?? (by.name || by.id);
  const from = sourceOf(by);
  const proved = defined({ data, person: by.person, claimed: as });
  const answered = await engine.answerTask(ports, { ...name, choice, by: who, from, ...proved });
  const detail = { choice, as: by.person?.name ?? who };
  await recordDeed(ports, by, { action: "task.answered", client, subject: answered.task.id, detail });
  return answered;
}

/** Returns the text by which entries name the source of an answer or a vote. */
function sourceOf({ id, person }: Principal): string {
  return person?.via.kind === "mail" ? "a mailed link" : `the API as ${id}`;
}

/** The change of a vote that an approval has stored. */
export type VoteChange = Awaited<ReturnType<typeof engine.withdrawVote>>;

/** Takes back the caller's vote or delegation. Throws `NotFound`, `ApproverRefused`, `AnswerRefused`. */
export async function withdraw(ports: ServicePorts, by: Principal, task: string): Promise<VoteChange> {
  const client = await clientOf(ports, by, { task });
  const withdrawn = await engine.withdrawVote(ports, { task }, { person: by.person, from: sourceOf(by) });
  const detail = { as: by.person?.name ?? by.id };
  await recordDeed(ports, by, { action: "task.withdrawn", client, subject: task, detail });
  return withdrawn;
}

/** Lets another person vote instead of the caller. Throws `NotFound`, `ApproverRefused`, `AnswerRefused`. */
export async function delegate(ports: ServicePorts, by: Principal, task: string, to: string): Promise<VoteChange> {
  const client = await clientOf(ports, by, { task });
  const call = { person: by.person, from: sourceOf(by), to };
  const delegated = await engine.delegateVote(ports, { task }, call);
  const detail = { as: by.person?.name ?? by.id, to };
  await recordDeed(ports, by, { action: "task.delegated", client, subject: task, detail });
  return delegated;
}

async function clientOf(ports: ServicePorts, by: Principal, name: NamedTask): Promise<string> {
  if (!("task" in name)) return (await executionWithin(ports, by, name.execution)).client;
  const task = await taskWithin(ports, by, name.task);
  if ("execution" in name) demandPlace(task, name);
  return task.client;
}

function demandPlace(task: engine.WaitingTask, { execution, node }: { execution: string; node?: string }): void {
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
 * Returns a task with the contents from its chain. If the time of the task is over, it returns the task as `expired`,
 * even if the record does not say so yet. Throws `NotFound`. Throws `AnswerRefused` for a mailed link that was used, or
 * whose approval takes no votes any more.
 */
export async function readTask(
  ports: ServicePorts,
  by: Principal,
  id: string,
): Promise<engine.WaitingTask & engine.TaskContents & { voting: engine.Voting | null }> {
  const task = await taskWithin(ports, by, id);
  if (by.person?.via.kind === "mail") await engine.demandOpenLink(ports, task, by.person);
  const isOver = task.status === "open" && Date.parse(task.expiresAt) <= ports.clock.now();
  const [contents, voting] = await Promise.all([
    engine.taskContents(ports, task),
    engine.readVoting(ports, task, by.person),
  ]);
  return { ...task, ...(isOver && { status: "expired" }), ...contents, voting };
}

/**
 * Returns the caller that the token of a mailed link proves. `signedIn` is the person whose key or token came with the
 * request, if any. Throws `TooMany`, and the same `NotFound` for every wrong token. Throws `ApproverRefused` if
 * `signedIn` is not the person to whom the link belongs.
 */
export async function ownerOfLink(
  ports: ServicePorts,
  id: string,
  token: string,
  signedIn: engine.Person | undefined,
): Promise<Principal> {
  await ports.rates?.take({ id: `link ${id}`, client: null });
  const task = await ports.tasks.find(id);
  const person = task?.approvers && (await engine.ownerOfVoteLink(ports, task, token));
  if (!task || !person)
    throw new NotFound(`this link does not belong to task "${id}" - open it as it was mailed, whole`);
  const { name, via } = person;
  if (signedIn && !signedIn.ids.includes(name)) {
    throw new engine.ApproverRefused(
      `this link votes as ${name}, and you are signed in as ${signedIn.name} - sign out before you open it, or use a link of your own`,
    );
  }
  return { id: via.key ?? name, role: "runner", client: task.client, name, person };
}

/** `resumeLink` compares a token with this hash if it finds no link. No token has this hash. */
const unmatchableHash = "0".repeat(64);

/** Finds the resume link of an id and a token. Throws `TooMany`, and the same `NotFound` for every mistake. */
export async function resumeLink(ports: ServicePorts, id: string, token: string): Promise<engine.ResumeLink> {
  await ports.rates?.take({ id: `link ${id}`, client: null });
  const execution = engine.executionOfToken(token);
  const link = execution === undefined ? undefined : await ports.resumeLinks.get({ execution, id });
  const digest = createHash("sha256").update(token).digest();
  const isRight = timingSafeEqual(digest, Buffer.from(link?.tokenHash ?? unmatchableHash, "hex"));
  if (link && isRight) return link;
  throw new NotFound(`there is no task "${id}" for this token - call the link as it was handed out, whole`);
}

/**
 * Passes JSON text to a wait. Returns true if the wait has received the text. Returns false if the wait has not started
 * yet; the wait then receives the text at its start. Throws `AnswerRefused`, `WaitOver`.
 */
export async function resume(ports: ServicePorts, link: engine.ResumeLink, text: string): Promise<boolean> {
  return engine.callLink(ports, link, await engine.executionOf(ports, link.execution), text);
}

function envelopeOf({ source, type, detail }: BusEvent, at: Date): { id: string; text: string } {
  const id = randomUUID();
  const around = { version: "0", id, "detail-type": type, source, account: "000000000000", time: at.toISOString() };
  return { id, text: engine.renderJson({ ...around, resources: [], detail: new engine.RawJson(detail) }) };
}

/**
 * Delivers an event directly to waiting runs of all clients, without a bus. Throws `Forbidden` if the caller's key is
 * for one client.
 */
export async function emit(
  ports: ServicePorts,
  by: Principal,
  event: BusEvent,
): Promise<{ id: string; tasks: engine.WaitingTask[] }> {
  demandAllClients(by);
  const { id, text } = envelopeOf(event, new Date(ports.clock.now()));
  return { id, tasks: await engine.deliverEvent(ports, text) };
}

/** Sources that belong to NOVA and AWS. */
const reserved = /^(nova|aws\..*)$/;

/**
 * Puts an event on the bus for triggers and waiting runs of all clients; returns its id. Throws `Forbidden` if the
 * caller's key is for one client, and `Refused` if the source of the event is reserved.
 */
export async function putEvent({ bus }: Pick<ServicePorts, "bus">, by: Principal, event: BusEvent): Promise<string> {
  demandAllClients(by);
  if (reserved.test(event.source)) {
    throw new Refused(`the source "${event.source}" is reserved - choose another one, such as shop.orders`);
  }
  return bus.put(event);
}
