import {
  defined,
  longestLabel,
  type Member,
  nodeIndex,
  runHash,
  secretKeys,
  startOf,
  templateParts,
  type Workflow,
} from "@nova/workflow";
import { contentText, headOf, noRun, type Origin, type Plan, sealEntry, sourceOf } from "../../chain/entry.ts";
import { blobPages, Context, emptyStored, storeContext } from "../../context/context.ts";
import { referencesIn } from "../../context/references.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Execution, Parent } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import { namedPerson, type Person } from "../../ports/people.ts";
import type { WorkflowVersion } from "../../ports/pipeline.ts";
import { defaultNext } from "../../protocol/definition.ts";
import { keepEventsFor } from "../waiting/events.ts";

export interface FirstEntry {
  id: string;
  version: WorkflowVersion;
  home: BlobHome;
  /** The initial context, large values in blobs. */
  set: Member[];
  /** A time in ISO 8601. */
  startedAt: string;
  parent?: Parent;
  trigger?: string | undefined;
  frozen?: boolean;
  sealed?: boolean;
  fresh?: readonly string[];
  origin?: Origin;
  plan?: Plan | undefined;
  /** The person who starts the run. Absent: NOVA has proved no identity. */
  starter?: Person | undefined;
}

/** Makes NOVA store events for waits of the run from now on, and builds entry 0 with the initial context. */
export async function buildFirstEntry(ports: Ports, link: FirstEntry): Promise<StoredEntry> {
  const {
    id,
    version,
    home,
    set,
    startedAt,
    parent,
    trigger,
    frozen,
    sealed,
    fresh = [],
    origin,
    plan,
    starter,
  } = link;
  await keepEventsFor(ports, version.workflow, startedAt);
  const changes = { set, delete: [] };
  const context = new Context().apply(changes, 0);
  const stored = await storeContext(context, emptyStored, changes, blobPages(ports.blobs, home));
  const labels = labelsOf(version.workflow, set);
  const node = startOf(version.workflow);
  const start = node && nodeIndex(version.workflow).get(node.id);
  return sealEntry(
    {
      execution_id: id,
      scope: "",
      seq: 0,
      ...home,
      workflow_id: version.workflowId,
      workflow_version: version.version,
      node_id: node?.id ?? "start",
      node_type: "start",
      status: "success",
      ...noRun,
      path_taken: start ? defaultNext({ version, ...start }) : null,
      timestamp: startedAt,
      nodes: 0,
      ...defined({ events: version.history?.begun, parent, trigger, origin }),
      machine: version.stateMachineArn,
      definition: runHash(version.workflow),
      ...(plan && { plan, visits: {} }),
      ...(frozen && { frozen: true }),
      ...(sealed && { sealed: true }),
      ...(fresh.length > 0 && { fresh }),
      prev: null,
    },
    {
      context: JSON.stringify(stored),
      ...(labels && { labels: JSON.stringify(labels) }),
      ...(starter && { starter: JSON.stringify(namedPerson(starter)) }),
    },
    ports.blobs,
  );
}

/** Writes the record after entry 0. For a restart it also adds a note to the chain of the source. */
export async function createRecord({ executions, chain }: Ports, record: Execution): Promise<void> {
  await executions.create(record);
  const { id, restartedFrom } = record;
  if (restartedFrom !== undefined) await chain.putNote(restartedFrom, { kind: "restart", execution: id });
}

export async function recordOf(
  ports: Pick<Ports, "blobs">,
  entry: StoredEntry,
  { workflowId, version, stateMachineArn }: WorkflowVersion,
): Promise<Execution> {
  const first = headOf(entry);
  const { execution_id: id, client, root, timestamp, parent, trigger } = first;
  return {
    format: 1,
    id,
    workflowId,
    version,
    stateMachineArn,
    client,
    root,
    status: "running",
    startedAt: timestamp,
    ...defined({ parent, trigger, restartedFrom: sourceOf(first), labels: await labelsIn(ports, entry) }),
    open: true,
  };
}

/**
 * Reads the labels of a run, by name, from its initial context; undefined if it has none. A secret input counts as
 * missing.
 */
export function labelsOf(workflow: Workflow, set: readonly Member[]): Record<string, string> | undefined {
  const { labels = {} } = workflow;
  const secrets = secretKeys(workflow);
  const context = new Context(set.filter(({ key }) => !secrets.has(key)).map((member) => ({ ...member, by: 0 })));
  const known = Object.entries(labels).flatMap(([name, template]) => {
    const value = renderLabel(template, context);
    return value === undefined ? [] : [[name, value] as const];
  });
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

function renderLabel(template: string, context: Context): string | undefined {
  const texts = templateParts(template).map((part) =>
    part.kind === "text" ? part.text : labelText(context.get(part.path)),
  );
  if (!texts.every((text) => text !== undefined)) return undefined;
  const text = Array.from(texts.join("").trim().toWellFormed()).slice(0, longestLabel).join("");
  return text === "" ? undefined : text;
}

/** Converts a value to the text of a label. Numbers keep the digits that the caller sent. */
function labelText(json: string | undefined): string | undefined {
  if (json === undefined || json === "null" || referencesIn(json).length > 0) return undefined;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Reads the labels of a run from its entry 0; undefined if it never had any, or if they were erased. */
export async function labelsIn({ blobs }: Pick<Ports, "blobs">, entry: StoredEntry) {
  const { labels } = entry.contents;
  return labels && (JSON.parse(await contentText(labels, headOf(entry), blobs)) as Record<string, string>);
}
