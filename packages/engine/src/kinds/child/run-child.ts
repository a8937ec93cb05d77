import { defined, type RunErrorClass, secretKeys, type WorkflowNode } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import { childId } from "../../chain/link-name.ts";
import { contextAfter } from "../../chain/position.ts";
import { offloadMembers, savingTo } from "../../context/offload.ts";
import { blobPages } from "../../context/pages.ts";
import { chainBroken } from "../../errors.ts";
import type { Member } from "../../json/text.ts";
import type { LinkId, StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import { readTip } from "../../protocol/branches.ts";
import { settlingPorts } from "../../protocol/close.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, versionOf, wayOn } from "../../protocol/definition.ts";
import { firstPosition, type RunPosition, type TaskAnswer, type WaitEvent } from "../../protocol/event.ts";
import { executionEnded } from "../../protocol/fail.ts";
import type { Closed } from "../../protocol/finish-close.ts";
import { entryOrTurn } from "../../protocol/held-turn.ts";
import { codeless, failed, type Outcome, succeeded } from "../../protocol/outcome.ts";
import type { KindPorts, Reason, SettlingPorts } from "../../protocol/settling.ts";
import type { WaitsFor } from "../waits-for.ts";
import { beginChild, type Child, childOf } from "./begin-child.ts";
import { type Calling, mapped } from "./child-input.ts";

/** What the first task answers: Step Functions starts this execution, and waits for its end. */
export interface ChildAnswer extends RunPosition {
  child: { arn: string; name: string; input: RunPosition };
}

/** A workflow node: the first task makes the other execution, the second one reads from its chain what it came to. */
export async function runChild(
  ports: KindPorts,
  event: WaitEvent,
  definition: NodeDefinition<WorkflowNode>,
): Promise<TaskAnswer | ChildAnswer> {
  for (;;) {
    const place = await entryOrTurn(ports, event);
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

/** Null: the node has an outcome, or its run is over; read again. */
async function call(ports: KindPorts, calling: Calling): Promise<Child | null> {
  const { position, node, turn } = calling;
  const child = await beginChild(ports, calling);
  if ("problem" in child) {
    const facts = codeless(ports, turn, position.before.warm);
    await commitOutcome(ports, position, node, failed(calling, child.problem, facts));
    return null;
  }
  // Whoever closed the run before link 0 was written did not see it: then it is ours to end.
  const { entry, turn: now } = await ports.chain.read(position.at);
  if (!entry && now?.state === "held") return child;
  await settlingPorts(ports).endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  return null;
}

async function commitEnd(ports: KindPorts, calling: Calling): Promise<void> {
  const { position, node, turn } = calling;
  const child = await childOf(ports, position.at, turn);
  if (!child) throw chainBroken(`node "${node.id}" waits for an execution that it has not made`);
  // How it ended its state machine knows; where that never began, or Step Functions gave up on it, it is stopped.
  await executionEnded(ports, child.id);
  const closed = await settlingPorts(ports).endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  await commitOutcome(ports, position, node, await childOutcome(ports, calling, child, closed));
}

/** A late delivery of the first task names an execution that is over; Step Functions says so and goes on to the second. */
async function answerEntry(ports: Ports, event: WaitEvent, entry: StoredEntry): Promise<TaskAnswer | ChildAnswer> {
  const answer = await answerFor(entry, event, ports);
  const { child } = headOf(entry);
  if (event.waited || !child) return answer;
  const version = await versionOf(ports, { workflow_id: child.workflow, workflow_version: child.version });
  return answerChild(event, { id: child.execution, version });
}

function answerChild({ execution, scope, seq }: WaitEvent, { id, version }: Child): ChildAnswer {
  const { workflowId, version: number, stateMachineArn: arn } = version;
  return { execution, scope, seq, child: { arn, name: id, input: firstPosition({ id, workflowId, version: number }) } };
}

/** Gives the turn its entry, once the execution that the node runs has ended or is stopped. */
export async function settleChild(ports: SettlingPorts, held: Calling, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const child = await childOf(ports, position.at, turn);
  const facts = codeless(ports, turn, position.before.warm);
  if (!child) return commitOutcome(ports, position, node, failed(held, reason, facts));
  const closed = await ports.endChild({ id: child.id, stateMachineArn: child.version.stateMachineArn });
  return commitOutcome(ports, position, node, await childOutcome(ports, held, child, closed, reason));
}

/** The execution that the node runs. */
export async function toldChild(_ports: unknown, _node: WorkflowNode, at: LinkId, { since }: Turn): Promise<WaitsFor> {
  return { kind: "workflow", until: null, execution_id: childId(at, since) };
}

/** What a node comes to whose execution was closed; `stopped` is why, where it was stopped for the node's sake. */
export async function childOutcome(
  ports: Ports,
  calling: Calling,
  child: Child,
  closed: Closed,
  stopped?: Reason,
): Promise<Outcome> {
  const { position, turn } = calling;
  const { workflowId: workflow, version } = child.version;
  const ran = { execution: child.id, workflow, version, tip: closed.tip };
  const facts = { ...codeless(ports, turn, position.before.warm), more: defined({ child: ran, spent: closed.spent }) };
  if (closed.status !== "completed") return failed(calling, failureOfChild(child, closed, stopped), facts);
  const set = await resultsOf(ports, calling, child);
  return "problem" in set ? failed(calling, set.problem, facts) : succeeded(wayOn(calling), facts, set);
}

function failureOfChild(child: Child, { status, error }: Closed, stopped: Reason | undefined): Reason {
  const name = `workflow "${child.version.workflowId}" (${child.id})`;
  if (status === "failed" && error)
    return { class: passedOn(error.class), message: `${name} failed: node "${error.node}": ${error.message}` };
  return stopped ?? { class: "NodeInterrupted", message: `${name} was ${status}` };
}

/** `ExecutionClosed` would say that this run, not the other one, was closed. */
function passedOn(name: RunErrorClass): RunErrorClass {
  return name === "ExecutionClosed" || name === "ChainBroken" ? "NodeFailed" : name;
}

/** What the node sets: values of the context that the other workflow's last node left. */
async function resultsOf(
  ports: Ports,
  { node, position }: Calling,
  child: Child,
): Promise<Member[] | { problem: string }> {
  const { before } = position;
  const close = await readTip(ports, child.id, "");
  const { entry } = await ports.chain.read({ execution: child.id, scope: "", seq: close.head.seq - 1 });
  if (!entry || headOf(entry).node_type !== "end")
    throw chainBroken(`execution ${child.id} is completed and has no end`);
  const { context } = await contextAfter(entry, ports.blobs);
  const source = {
    title: `the last context of workflow "${child.version.workflowId}"`,
    context,
    secrets: secretKeys(child.version.workflow),
    load: blobPages(ports.blobs, before).load,
  };
  const members = await mapped(node.output, source, new Set());
  if ("problem" in members) return members;
  return offloadMembers(members, savingTo(ports, before));
}
