import type { Workflow, WorkflowNode } from "@nova/workflow";
import { type Head, headOf } from "../chain/head.ts";
import { inputAfter, type Position } from "../chain/position.ts";
import { blobPages } from "../context/blob-pages.ts";
import type { Context } from "../context/context.ts";
import { offloadLargeValues } from "../context/offload.ts";
import { referencesIn } from "../context/references.ts";
import { NovaError } from "../errors.ts";
import { firstLink, recordOf } from "../execution/first-link.ts";
import { InputsRefused, refuseMisfits } from "../execution/inputs.ts";
import { type Member, objectText } from "../json/text.ts";
import { contextBefore } from "../map/item-input.ts";
import type { NodeDefinition } from "../node/definition.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Parent } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { redactorFor, secretKeys } from "../secrets/secret-inputs.ts";
import { childId } from "./child-id.ts";
import { mapped, wholeMembers } from "./mapping.ts";

/** A workflow node that holds its turn. */
export interface Calling {
  position: Position;
  definition: NodeDefinition;
  node: WorkflowNode;
  turn: Turn;
}

/** The execution that a node runs. */
export interface Child {
  id: string;
  version: WorkflowVersion;
}

/** Executions inside of one another, at most: a workflow that runs itself has to come to an end. */
const deepest = 8;

/**
 * Makes the execution that a node runs: link 0, which settles version and input for all deliveries, then the record.
 * Else why there is none.
 */
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
  throw new NovaError("ChainBroken", `workflow ${head.workflow_id} has no version ${head.workflow_version} any more`);
}

async function putFirstLink(ports: Ports, calling: Calling, id: string): Promise<StoredEntry | { problem: string }> {
  const { position, node, turn } = calling;
  const version = await wantedVersion(ports, node);
  if ("problem" in version) return version;
  const parent = await parentOf(ports, position);
  if (parent.depth > deepest)
    return { problem: `workflows run inside of one another ${deepest} deep at most - end the recursion earlier` };
  const members = await inputFor(ports, calling, version.workflow);
  if ("problem" in members) return members;
  const { client, root } = position.before;
  const link = { id, version, home: { client, root }, set: members, startedAt: turn.since, parent };
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
  const advice = `its latest is ${latest.version}`;
  return (
    (await ports.workflows.get(workflow, version)) ?? {
      problem: `workflow "${workflow}" has no version ${version} - ${advice}`,
    }
  );
}

async function parentOf(ports: Ports, { at }: Position): Promise<Parent> {
  const own = await firstEntry(ports, at.execution);
  const { execution, scope, seq } = at;
  return { execution, scope, seq, depth: ((own && headOf(own).parent?.depth) ?? 0) + 1 };
}

/** What the other workflow starts with, checked against its `inputs`. */
async function inputFor(ports: Ports, calling: Calling, target: Workflow): Promise<Member[] | { problem: string }> {
  const { position, node, definition } = calling;
  const { before, beforeEntry } = position;
  const { context: kept } = await contextBefore(ports, position);
  const context = await inputAfter(beforeEntry, kept, ports.blobs);
  const secrets = secretKeys(definition.version.workflow);
  const maySee = secretKeys(target);
  const pages = blobPages(ports.blobs, before);
  const source = {
    title: "the context",
    context,
    secrets,
    load: ({ sha256 }: { sha256: string }) => pages.load(sha256),
  };
  const members = node.input
    ? await mapped(node.input, source, maySee)
    : wholeMembers({ ...source, context: kept }, maySee);
  if ("problem" in members) return members;
  const misfit = await misfitOf(ports, calling, target, members, context);
  if (misfit !== undefined) return { problem: misfit };
  return Promise.all(members.map(async ({ key, json }) => ({ key, json: await offloaded(ports, calling, json) })));
}

function offloaded(ports: Ports, { position: { before } }: Calling, json: string): Promise<string> {
  return offloadLargeValues(json, (ref, body) => ports.blobs.put(before, ref, body));
}

/** Of values that lie in blobs the schema of `inputs` is asked no more than whether they are there. */
async function misfitOf(
  ports: Ports,
  { position: { before }, definition }: Calling,
  target: Workflow,
  members: readonly Member[],
  context: Context,
): Promise<string | undefined> {
  const [inBlobs, inline] = [true, false].map((isBlob) =>
    members.filter(({ json }) => referencesIn(json).length > 0 === isBlob),
  ) as [Member[], Member[]];
  try {
    refuseMisfits(
      target,
      objectText(inline),
      inBlobs.map(({ key }) => key),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof InputsRefused)) throw error;
    const secrets = secretKeys(definition.version.workflow);
    const redactor = await redactorFor(secrets, context, (sha256) => ports.blobs.get(before, sha256));
    return redactor.mask(`workflow "${target.id}" refuses what it is given: ${error.message.replaceAll("\n", "; ")}`);
  }
}
