import type { JsonObject } from "@nova/workflow";
import { inputAfter, type Position } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import { contextBefore } from "../map/item-input.ts";
import { answerFor } from "../node/answer.ts";
import { commitOutcome } from "../node/commit.ts";
import { definitionOf, type NodeDefinition } from "../node/definition.ts";
import type { NodeEvent } from "../node/event.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WaitingTask } from "../ports/tasks.ts";
import { redactorFor, secretKeys } from "../secrets/secret-inputs.ts";
import { expiredEntry } from "./expire.ts";
import { type Message, renderMessage } from "./message.ts";
import { failed } from "./outcomes.ts";
import { markWaiting, refreshStatus } from "./status.ts";
import { taskId } from "./task-id.ts";
import { keepToken } from "./tokens.ts";
import { entryOrTurn, letGo } from "./turn.ts";
import { isWaitingNode, termsOf, type WaitingNode } from "./waiting-node.ts";

/** Input of the function that takes a task token. */
export interface RequestEvent extends NodeEvent {
  token: string;
}

/** What the function answers; it lies in the history of Step Functions, so it says nothing that is secret. */
export interface Requested {
  task: string | null;
}

/**
 * An approval, or a wait for an event, begins (protocol, Approval): turn, token, task, then the chain is read once
 * more, so that an answer that came meanwhile finds the token or is found here. Every delivery may do all of it.
 * Throws what the node came to where that is a failure.
 */
export async function requestApproval(ports: Ports, event: RequestEvent): Promise<Requested> {
  const definition = await definitionOf(ports, event);
  const { node } = definition;
  if (!isWaitingNode(node)) throw new NovaError("ChainBroken", `${node.type} node "${node.id}" waits for nobody`);
  for (;;) {
    const place = await entryOrTurn(ports, event);
    if (place.entry) return answerWith(ports, event, place.entry);
    const { position, turn } = place;
    const task = await ask(ports, { position, definition, node, turn }, event);
    if (task) return { task: task.id };
  }
}

interface Asking {
  position: Position;
  definition: NodeDefinition;
  node: WaitingNode;
  turn: Turn;
}

/** Null: the node has an outcome, or its run is over; read again. */
async function ask(ports: Ports, asking: Asking, event: RequestEvent): Promise<WaitingTask | null> {
  const { position, definition, node, turn } = asking;
  const message = await messageFor(ports, asking);
  if ("problem" in message) {
    const reason = { class: "NodeFailed", message: message.problem } as const;
    await commitOutcome(ports, position, node, failed(definition, reason, { turn, nowMs: ports.clock.now() }));
    return null;
  }
  const task = taskFor(asking, event, message.text);
  if (Date.parse(task.expiresAt) <= ports.clock.now()) {
    await expiredEntry(ports, event);
    return null;
  }
  await keepToken(ports, task, event.token);
  await ports.tasks.create(task);
  await markWaiting(ports, task.execution);
  const { entry, turn: now } = await ports.chain.read(position.at);
  if (entry || now?.state !== "held") {
    if (!entry) await ports.tasks.move(task, ["open"], "expired");
    await refreshStatus(ports, task.execution);
    return null;
  }
  await letGo(ports, position.before.warm);
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
  message: string,
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
    message,
    status: "open",
    createdAt: turn.since,
    expiresAt: new Date(Date.parse(turn.since) + timeoutSeconds * 1000).toISOString(),
  };
}

async function messageFor(ports: Ports, { position, node, definition }: Asking): Promise<Message> {
  if (node.type === "wait") return { text: "" };
  const { before, beforeEntry } = position;
  const { context } = await contextBefore(ports, position);
  const input = await inputAfter(beforeEntry, context, ports.blobs);
  const secrets = secretKeys(definition.version.workflow);
  const others = await ports.credentials.secretsOf(before.client, before.workflow_id);
  const redactor = await redactorFor(secrets, input, (sha256) => ports.blobs.get(before, sha256), others);
  return renderMessage(node.message, input, (text) => redactor.mask(text));
}

function waitingDetail(ports: Pick<Ports, "links">, task: WaitingTask): JsonObject {
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
