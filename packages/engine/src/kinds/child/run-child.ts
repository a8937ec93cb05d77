import {
  defined,
  type Member,
  objectText,
  type RunErrorClass,
  secretKeys,
  type Workflow,
  type WorkflowNode,
} from "@nova/workflow";
import { headOf } from "../../chain/entry.ts";
import { childId } from "../../chain/ids.ts";
import { contextAfter, inputBefore, type Position } from "../../chain/position.ts";
import { blobPages, type Context, type Slot } from "../../context/context.ts";
import { findValue, keyOfPath, type LoadJson, offloadMembers, savingTo } from "../../context/references.ts";
import { chainBroken, recoverFrom } from "../../errors.ts";
import type { EntryId, StoredEntry, Turn } from "../../ports/chain.ts";
import type { Parent } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { WorkflowVersion } from "../../ports/pipeline.ts";
import { answerFor } from "../../protocol/answer.ts";
import { readTip } from "../../protocol/branches.ts";
import { settlingPorts } from "../../protocol/close.ts";
import { commitFailure, commitOutcome } from "../../protocol/commit.ts";
import {
  defaultNext,
  findCalledVersion,
  type HeldNode,
  type KindPorts,
  type NodeDefinition,
  type Reason,
  type SettlingPorts,
  versionOf,
} from "../../protocol/definition.ts";
import { executionEnded } from "../../protocol/end-runs.ts";
import { firstPosition, type RunPosition, type TaskAnswer, type WaitEvent } from "../../protocol/event.ts";
import { buildFailure, buildSuccess, factsWithoutCode } from "../../protocol/outcome.ts";
import type { Closed } from "../../protocol/record.ts";
import { buildChildPlan, findInnerPlaces, originInside } from "../../protocol/recorded.ts";
import { decisionKey } from "../../protocol/settle-join.ts";
import { acquireTurn } from "../../protocol/turn.ts";
import { redactorAt } from "../../secrets/secret-inputs.ts";
import { buildFirstEntry, createRecord, InputsRefused, recordOf, refuseMisfitsOf } from "../start/start.ts";

/**
 * The answer of the first task of a workflow node. Step Functions then starts the execution in `child`, and waits until
 * that execution ends.
 */
export interface ChildAnswer extends RunPosition {
  child: { arn: string; name: string; input: RunPosition };
}

/**
 * Runs a workflow node: the first task creates the other execution, and the second task reads the outcome of that
 * execution.
 */
export async function runChild(ports: KindPorts, event: WaitEvent, definition: NodeDefinition<WorkflowNode>) {
  for (;;) {
    const place = await acquireTurn(ports, event);
    if (place.entry) return answerEntry(ports, event, place.entry);
    const { position, turn } = place;
    const calling: Calling = { ...definition, position, turn };
    if (event.waited) await commitEnd(ports, calling);
    else {
      const child = await call(ports, calling);
      if (child) return answerChild(event, child);
    }
  }
}

/**
 * Creates the execution that the node runs. Returns null if the node has an outcome or if the run of the node has
 * ended; the caller then reads the chain again.
 */
async function call(ports: KindPorts, calling: Calling): Promise<Child | null> {
  const { position } = calling;
  const child = await beginChild(ports, calling);
  if ("problem" in child) {
    await commitFailure(ports, calling, child.problem);
    return null;
  }
  // Another process may have settled the node meanwhile without seeing the new execution. Then this delivery ends the
  // new execution.
  const { entry, turn: now } = await ports.chain.read(position.at);
  if (!entry && now?.state === "held") return child;
  await settlingPorts(ports).endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  return null;
}

async function commitEnd(ports: KindPorts, calling: Calling): Promise<void> {
  const { position, node, turn } = calling;
  const child = await childOf(ports, position.at, turn);
  if (!child) throw chainBroken(`node "${node.id}" waits for an execution that it has not made`);
  // If the state machine of the child has ended, `executionEnded` closes the child. If the state machine never started,
  // or still runs because Step Functions gave up on the node, `endChild` stops it and closes the child.
  await executionEnded(ports, child.id);
  const closed = await settlingPorts(ports).endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  await commitOutcome(ports, position, node, await childOutcome(ports, calling, child, closed));
}

/**
 * Builds the answer for a node that has an entry. The answer of the first task may name an execution that has ended.
 * Step Functions notices this, and continues with the second task.
 */
async function answerEntry(ports: Ports, event: WaitEvent, entry: StoredEntry): Promise<TaskAnswer | ChildAnswer> {
  const answer = await answerFor(entry, event, ports);
  const head = headOf(entry);
  if (event.waited || head.status === "failed") return answer;
  const { child } = head;
  if (!child) {
    const { stateMachineArn: arn } = await versionOf(ports, head);
    const { execution, scope, seq } = event;
    return { execution, scope, seq, child: { arn, name: execution.id, input: { execution, scope, seq: head.seq } } };
  }
  const version = await versionOf(ports, { workflow_id: child.workflow, workflow_version: child.version });
  return answerChild(event, { id: child.execution, version });
}

function answerChild({ execution, scope, seq }: WaitEvent, { id, version }: Child): ChildAnswer {
  const { workflowId, version: number, stateMachineArn: arn } = version;
  return { execution, scope, seq, child: { arn, name: id, input: firstPosition({ id, workflowId, version: number }) } };
}

export async function settleChild(ports: SettlingPorts, held: Calling, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const child = await childOf(ports, position.at, turn);
  if (!child) return commitFailure(ports, held, reason);
  const closed = await ports.endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  return commitOutcome(ports, position, node, await childOutcome(ports, held, child, closed, reason));
}

export async function describeChildWait(_ports: unknown, _node: WorkflowNode, at: EntryId, { since }: Turn) {
  return { kind: "workflow" as const, until: null, execution_id: childId(at, since) };
}

/**
 * Builds the outcome of a workflow node from the close of the execution that it ran. `stopped`: the reason why NOVA
 * stopped that execution; absent if NOVA did not stop it.
 */
export async function childOutcome(ports: Ports, calling: Calling, child: Child, closed: Closed, stopped?: Reason) {
  const { position, turn } = calling;
  const { workflowId: workflow, version } = child.version;
  const ran = { execution: child.id, workflow, version, tip: closed.tip };
  const facts = {
    ...factsWithoutCode(ports, turn, position.before),
    more: defined({ child: ran, spent: closed.spent }),
  };
  if (closed.status !== "completed") return buildFailure(calling, failureOfChild(child, closed, stopped), facts);
  const set = await resultsOf(ports, calling, child);
  return "problem" in set ? buildFailure(calling, set.problem, facts) : buildSuccess(defaultNext(calling), facts, set);
}

function failureOfChild(child: Child, { status, error }: Closed, stopped: Reason | undefined): Reason {
  const name = `workflow "${child.version.workflowId}" (${child.id})`;
  if (status === "failed" && error)
    return { class: passedOn(error.class), message: `${name} failed: node "${error.node}": ${error.message}` };
  return stopped ?? { class: "NodeInterrupted", message: `${name} was ${status}` };
}

/**
 * Returns the error class with which this run reports the failure of an inner run. It replaces classes that would
 * describe this run: `ExecutionClosed`, for example, would say that this run was closed.
 */
function passedOn(name: RunErrorClass): RunErrorClass {
  return name === "ExecutionClosed" || name === "ChainBroken" ? "NodeFailed" : name;
}

/** Reads the members that the node sets. They come from the last context of the execution that the node ran. */
async function resultsOf(ports: Ports, { node, position }: Calling, child: Child) {
  const { before } = position;
  const close = await readTip(ports, child.id, "");
  const { entry } = await ports.chain.read({ execution: child.id, scope: "", seq: close.head.seq - 1 });
  if (!entry || headOf(entry).node_type !== "end")
    throw chainBroken(`execution ${child.id} is completed and has no end`);
  const { context } = await contextAfter(entry, ports.blobs);
  const { workflowId, workflow } = child.version;
  const title = `the last context of workflow "${workflowId}"`;
  const source = { title, context, secrets: secretKeys(workflow), load: blobPages(ports.blobs, before).load };
  const members = await mapMembers(node.output, source, new Set());
  if ("problem" in members) return members;
  return offloadMembers(members, savingTo(ports, before));
}

export async function hasInnerPlaces(...place: Parameters<typeof findInnerPlaces>): Promise<boolean> {
  return (await findInnerPlaces(...place)) !== null;
}

export interface Child {
  id: string;
  version: WorkflowVersion;
}

/** The largest depth of executions inside each other. This limit ends a workflow that runs itself. */
const deepest = 8;

/**
 * Creates the execution that a node runs. This function first writes entry 0, which fixes the version and the input,
 * and then the record.
 */
export async function beginChild(ports: Ports, calling: Calling): Promise<Child | { problem: string }> {
  const { at } = calling.position;
  const id = childId(at, calling.turn.since);
  const there = await firstEntry(ports, id);
  const entry = there ?? (await putFirstEntry(ports, calling, id));
  if ("problem" in entry) return entry;
  const head = headOf(entry);
  const version = await versionOf(ports, head);
  await createRecord(ports, await recordOf(ports, entry, version));
  return { id, version };
}

export async function childOf(ports: Ports, at: Position["at"], { since }: Turn): Promise<Child | null> {
  const id = childId(at, since);
  const entry = await firstEntry(ports, id);
  return entry ? { id, version: await versionOf(ports, headOf(entry)) } : null;
}

async function firstEntry(ports: Ports, execution: string): Promise<StoredEntry | undefined> {
  return (await ports.chain.read({ execution, scope: "", seq: 0 })).entry;
}

async function putFirstEntry(ports: Ports, calling: Calling, id: string): Promise<StoredEntry | { problem: string }> {
  const { position, node, turn } = calling;
  const version = await findCalledVersion(ports, node);
  if ("problem" in version) return version;
  const parent = await parentOf(ports, position);
  if (parent.depth > deepest)
    return { problem: `workflows run inside of one another ${deepest} deep at most - end the recursion earlier` };
  const members = await childInput(ports, calling, version.workflow);
  if ("problem" in members) return members;
  const { client, root, frozen = false, sealed = false } = position.before;
  const plan = await buildChildPlan(ports, position, node);
  const first = { id, version, home: { client, root }, set: members, startedAt: turn.since, parent };
  const origin = await originInside(ports, position, node);
  const entry = await buildFirstEntry(ports, { ...first, frozen, sealed, origin, plan });
  if (await ports.chain.putEntry({ execution: id, scope: "", seq: 0 }, entry)) return entry;
  return (await firstEntry(ports, id)) ?? entry;
}

async function parentOf(ports: Ports, { at }: Position): Promise<Parent> {
  const own = await firstEntry(ports, at.execution);
  const { execution, scope, seq } = at;
  return { execution, scope, seq, depth: ((own && headOf(own).parent?.depth) ?? 0) + 1 };
}

export async function childInput(ports: Ports, calling: Calling, target: Workflow) {
  const { position, node, version } = calling;
  const { before } = position;
  const { kept, input: context } = await inputBefore(ports, position);
  const secrets = secretKeys(version.workflow);
  const maySee = secretKeys(target);
  const source = { title: "the context", context, secrets, load: blobPages(ports.blobs, before).load };
  const members = node.input
    ? await mapMembers(node.input, source, maySee)
    : wholeMembers({ ...source, context: kept.context }, maySee);
  if ("problem" in members) return members;
  const misfit = await misfitOf(ports, calling, target, members, context);
  if (misfit !== undefined) return { problem: misfit };
  return offloadMembers(members, savingTo(ports, before));
}

async function misfitOf(
  ports: Ports,
  { position: { before }, version }: Calling,
  target: Workflow,
  members: readonly Member[],
  context: Context,
): Promise<string | undefined> {
  const refusal = await refuseMisfitsOf(target, members).catch(recoverFrom(InputsRefused, ({ message }) => message));
  if (refusal === undefined) return undefined;
  const redactor = await redactorAt(ports, before, version, context);
  return redactor.mask(`workflow "${target.id}" refuses what it is given: ${refusal.replaceAll("\n", "; ")}`);
}

export type Calling = HeldNode<WorkflowNode>;

/** The path that means the whole context. */
const whole = "$";

/** A context from which NOVA copies values, and the keys that must not leave this context. */
interface Source {
  /** Names the context in messages: `the context`, `the last context of workflow "billing"`. */
  title: string;
  context: Context;
  /** Keys that are secret in this context. */
  secrets: ReadonlySet<string>;
  load: LoadJson;
}

/**
 * Builds the members that a mapping from keys to paths copies from a context. `maySee`: the keys that are also secret
 * in the receiving workflow.
 */
export async function mapMembers(
  mapping: Readonly<Record<string, string>>,
  source: Source,
  maySee: ReadonlySet<string>,
): Promise<Member[] | { problem: string }> {
  const members: Member[] = [];
  for (const [key, path] of Object.entries(mapping)) {
    const secret = keyOfPath(source.secrets, path);
    if (secret !== undefined && !maySee.has(key)) {
      const advice = `mark "${key}" with "secret": true in the inputs of the workflow that takes it, or leave it out`;
      return { problem: `"${key}" takes the secret "${secret}" from ${source.title} - ${advice}` };
    }
    const json =
      path === whole
        ? objectText(wholeMembers(source, maySee.has(key) ? source.secrets : new Set()))
        : await findValue(source.context, path, source.load);
    if (json === undefined) {
      const advice = "set it before, or correct the path";
      return { problem: `"${key}" takes "${path}" from ${source.title}, which is not there - ${advice}` };
    }
    members.push({ key, json });
  }
  return members;
}

/**
 * Copies all keys under their own names. Copies a secret key only if the key is secret in the receiving workflow, too.
 */
function wholeMembers({ context, secrets }: Pick<Source, "context" | "secrets">, maySee: ReadonlySet<string>): Slot[] {
  return context.slots().filter(({ key }) => key !== decisionKey && (!secrets.has(key) || maySee.has(key)));
}
