import { secretKeys } from "@nova/workflow";
import { taskId } from "../../chain/ids.ts";
import { inputBefore } from "../../chain/position.ts";
import { blobPages } from "../../context/context.ts";
import { keyOfPath } from "../../context/references.ts";
import { chainBroken } from "../../errors.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { answerFor } from "../../protocol/answer.ts";
import { definitionOf, type HeldNode, type KindPorts } from "../../protocol/definition.ts";
import type { NodeEvent } from "../../protocol/event.ts";
import { markWaiting, refreshStatus } from "../../protocol/record.ts";
import { acquireTurn } from "../../protocol/turn.ts";
import { releaseSandboxes } from "../../sandboxes/life.ts";
import { redactorAt } from "../../secrets/secret-inputs.ts";
import { handOverEvent } from "./answer.ts";
import { bindPattern, matchable, shapeOf, wakeOf } from "./bind-pattern.ts";
import { renderMessage } from "./contents.ts";
import { eventsSinceStart } from "./events.ts";
import { linkOfVisit, takeCalled } from "./resume.ts";
import { expiredEntry, settleWaiting } from "./sweep-tasks.ts";
import { isWaitingNode, keepToken, termsOf, type WaitingNode, waitingDetail } from "./waiting-task.ts";

/** The input of the Lambda that takes the task token of an approval or a wait. */
export interface RequestEvent extends NodeEvent {
  token: string;
}

/**
 * The output of the Lambda that takes the task token. The history of Step Functions stores this output, so it contains
 * no secrets.
 */
export interface Requested {
  task: string | null;
}

/**
 * Starts an approval, or a wait for an event (docs/protocol.md): takes the turn, stores the token, and creates the
 * task. Then it reads the chain again. If an answer arrived meanwhile, either the process of the answer has found the
 * token, or this read finds the answer. Throws if the node has failed.
 */
export async function requestApproval(ports: KindPorts, event: RequestEvent): Promise<Requested> {
  const definition = await definitionOf(ports, event);
  const { node } = definition;
  if (!isWaitingNode(node)) throw chainBroken(`${node.type} node "${node.id}" waits for no answer or event`);
  for (;;) {
    const place = await acquireTurn(ports, event);
    if (place.entry) return answerWith(ports, event, place.entry);
    const { position, turn } = place;
    const task = await ask(ports, { ...definition, node, position, turn }, event);
    if (task) return { task: task.id };
  }
}

type Asking = HeldNode<WaitingNode>;

/**
 * Creates the task of the node. Returns null if the node has an outcome or if the run of the node has ended; the caller
 * then reads the chain again.
 */
async function ask(ports: KindPorts, asking: Asking, event: RequestEvent): Promise<WaitingTask | null> {
  const { position, node } = asking;
  const question = await questionFor(ports, asking);
  if ("problem" in question) {
    await settleWaiting(ports, asking, { class: "NodeFailed", message: question.problem });
    return null;
  }
  const task = taskFor(asking, event, question);
  if (Date.parse(task.expiresAt) <= ports.clock.now()) {
    await expiredEntry(ports, event);
    await releaseSandboxes(ports, position.before);
    return null;
  }
  await keepToken(ports, task, event.token);
  await ports.tasks.create(task);
  await markWaiting(ports, task.execution);
  const { entry, turn: now } = await ports.chain.read(position.at);
  const isOver = entry !== undefined || now?.state !== "held";
  if (isOver) {
    if (!entry) await ports.tasks.move(task, ["open"], "expired");
    await refreshStatus(ports, task.execution);
  }
  const goesOn = isOver || (await wentOnBefore(ports, node, task));
  await releaseSandboxes(ports, position.before);
  if (goesOn) return null;
  await ports.events.publish("execution.waiting", waitingDetail(ports, task));
  return task;
}

async function answerWith(ports: Ports, event: RequestEvent, entry: StoredEntry): Promise<Requested> {
  await ports.stateMachines.answerTask(event.token, JSON.stringify(await answerFor(entry, event, ports)));
  return { task: null };
}

function taskFor(
  { position: { at, before }, node, turn }: Asking,
  { execution }: NodeEvent,
  question: Question,
): WaitingTask {
  const { into: _, timeoutSeconds, ...terms } = termsOf(node);
  return {
    format: 1,
    id: taskId(at, turn.since),
    ...at,
    client: before.client,
    workflowId: execution.workflowId,
    version: execution.version,
    node: node.id,
    ...terms,
    ...question,
    status: "open",
    createdAt: turn.since,
    expiresAt: new Date(Date.parse(turn.since) + timeoutSeconds * 1000).toISOString(),
  };
}

type Question = Pick<WaitingTask, "message" | "pattern" | "wake" | "link">;

async function questionFor(ports: Ports, { position, node, version }: Asking): Promise<Question | { problem: string }> {
  const { before } = position;
  const { input } = await inputBefore(ports, position);
  const secrets = secretKeys(version.workflow);
  const others = await ports.credentials.secretsOf(before.client, before.workflow_id);
  const redactor = await redactorAt(ports, before, version, input, others);
  if (node.type === "approval") {
    const message = renderMessage(node.message, input, (text) => redactor.mask(text));
    return "problem" in message ? message : { message: message.text };
  }
  const { pattern } = node.for;
  const bound = await bindPattern(pattern, {
    input,
    load: blobPages(ports.blobs, before).load,
    isSecret: (path, json) => keyOfPath(secrets, path) !== undefined || redactor.finds(json),
  });
  if ("problem" in bound) return bound;
  const link = await linkOfVisit(ports, position.at, node.id);
  const wake = wakeOf(shapeOf(pattern), matchable(bound.pattern));
  return { message: "", ...bound, wake, ...(link && { link: link.id }) };
}

/**
 * Ends the wait with an event or a call that arrived before the task existed; returns whether one had arrived. NOVA
 * misses no event, because `deliverEvent` stores each event before it looks for the tasks that wait for the event.
 */
async function wentOnBefore(ports: Ports, node: WaitingNode, task: WaitingTask): Promise<boolean> {
  if (await takeCalled(ports, task)) return true;
  if (node.type === "approval" || !node.for.since) return false;
  for await (const { text } of eventsSinceStart(ports, task, node)) {
    await handOverEvent(ports, task, text);
    return true;
  }
  return false;
}
