import type { WorkflowNode } from "@nova/workflow";
import { type Head, headOf, type Plan } from "../../chain/head.ts";
import { childId } from "../../chain/link-name.ts";
import type { Position } from "../../chain/position.ts";
import { chainBroken } from "../../errors.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Parent } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { WorkflowVersion } from "../../ports/workflows.ts";
import { findInSource, planOf } from "../../protocol/recorded.ts";
import { firstLink, recordOf } from "../start/first-link.ts";
import { type Calling, childInput } from "./child-input.ts";

/** The execution that a node runs. */
export interface Child {
  id: string;
  version: WorkflowVersion;
}

/** Executions inside of one another, at most: a workflow that runs itself has to come to an end. */
const deepest = 8;

/** Makes the execution that a node runs: link 0 settles version and input, the record follows. */
export async function beginChild(ports: Ports, calling: Calling): Promise<Child | { problem: string }> {
  const { at } = calling.position;
  const id = childId(at, calling.turn.since);
  const there = await firstEntry(ports, id);
  const entry = there ?? (await putFirstLink(ports, calling, id));
  if ("problem" in entry) return entry;
  const head = headOf(entry);
  const version = await versionOf(ports, head);
  await ports.executions.create(recordOf(head, version));
  return { id, version };
}

/** The execution that a turn has made, if it came to that. */
export async function childOf(ports: Ports, at: Position["at"], { since }: Turn): Promise<Child | null> {
  const id = childId(at, since);
  const entry = await firstEntry(ports, id);
  return entry ? { id, version: await versionOf(ports, headOf(entry)) } : null;
}

async function firstEntry(ports: Ports, execution: string): Promise<StoredEntry | undefined> {
  return (await ports.chain.read({ execution, scope: "", seq: 0 })).entry;
}

async function versionOf(ports: Ports, head: Head): Promise<WorkflowVersion> {
  const version = await ports.workflows.get(head.workflow_id, head.workflow_version);
  if (version) return version;
  throw chainBroken(`workflow ${head.workflow_id} has no version ${head.workflow_version} any more`);
}

async function putFirstLink(ports: Ports, calling: Calling, id: string): Promise<StoredEntry | { problem: string }> {
  const { position, node, turn } = calling;
  const version = await wantedVersion(ports, node);
  if ("problem" in version) return version;
  const parent = await parentOf(ports, position);
  if (parent.depth > deepest)
    return { problem: `workflows run inside of one another ${deepest} deep at most - end the recursion earlier` };
  const members = await childInput(ports, calling, version.workflow);
  if ("problem" in members) return members;
  const { client, root, frozen = false } = position.before;
  const plan = await planOfChild(ports, position, node);
  const link = { id, version, home: { client, root }, set: members, startedAt: turn.since, parent, frozen, plan };
  const entry = await firstLink(ports, link);
  if (await ports.chain.putEntry({ execution: id, scope: "", seq: 0 }, entry)) return entry;
  return (await firstEntry(ports, id)) ?? entry;
}

async function wantedVersion(
  ports: Ports,
  { workflow, version }: WorkflowNode,
): Promise<WorkflowVersion | { problem: string }> {
  const latest = await ports.workflows.latest(workflow);
  if (!latest) return { problem: `there is no workflow "${workflow}" - publish it, or correct the id` };
  if (version === undefined || version === latest.version) return latest;
  const pinned = await ports.workflows.get(workflow, version);
  return pinned ?? { problem: `workflow "${workflow}" has no version ${version} - its latest is ${latest.version}` };
}

/** An execution that came to no good end for the source goes on where it failed. */
async function planOfChild(ports: Ports, { before, at }: Position, node: WorkflowNode): Promise<Plan | undefined> {
  if (!before.followed) return undefined;
  const { source, again = [], inside = {} } = await planOf(ports, at.execution);
  const found = await findInSource(ports, source, before.followed, node);
  const { child, scope, seq, status } = found?.head ?? {};
  if (!child || again.includes(node.id)) return undefined;
  const part = inside[`${scope}#${seq}`];
  if (!part && status === "success") return undefined;
  return { source: child.execution, tip: child.tip, ...part, ...(again.length > 0 && { again }) };
}

async function parentOf(ports: Ports, { at }: Position): Promise<Parent> {
  const own = await firstEntry(ports, at.execution);
  const { execution, scope, seq } = at;
  return { execution, scope, seq, depth: ((own && headOf(own).parent?.depth) ?? 0) + 1 };
}
