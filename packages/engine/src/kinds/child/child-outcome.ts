import { defined, type RunErrorClass, secretKeys } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import { contextAfter } from "../../chain/position.ts";
import { offloadMembers, savingTo } from "../../context/offload.ts";
import { blobPages } from "../../context/pages.ts";
import { chainBroken } from "../../errors.ts";
import type { Member } from "../../json/text.ts";
import type { Ports } from "../../ports/index.ts";
import { readTip } from "../../protocol/branches.ts";
import { wayOn } from "../../protocol/definition.ts";
import type { Closed } from "../../protocol/finish-close.ts";
import { codeless, failed, type Outcome, succeeded } from "../../protocol/outcome.ts";
import type { Reason } from "../../protocol/settling.ts";
import type { Child } from "./begin-child.ts";
import { type Calling, mapped } from "./child-input.ts";

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
  const pages = blobPages(ports.blobs, before);
  const source = {
    title: `the last context of workflow "${child.version.workflowId}"`,
    context,
    secrets: secretKeys(child.version.workflow),
    load: ({ sha256 }: { sha256: string }) => pages.load(sha256),
  };
  const members = await mapped(node.output, source, new Set());
  if ("problem" in members) return members;
  return offloadMembers(members, savingTo(ports, before));
}
