import { randomUUID } from "node:crypto";
import {
  checkContext,
  deepestNesting,
  defined,
  type Finding,
  finding,
  longestLabel,
  type Member,
  measureOf,
  membersOf,
  nodeIndex,
  objectText,
  runHash,
  secretKeys,
  startOf,
  templateParts,
  type Workflow,
} from "@nova/workflow";
import { monotonicFactory } from "ulid";
import { atOnce } from "../../at-once.ts";
import { contentText, headOf, noRun, type Origin, type Plan, sealEntry, sourceOf } from "../../chain/entry.ts";
import { checkOutcomes, storeOutcomes } from "../../chain/outcomes.ts";
import { blobPages, Context, emptyStored, storeContext } from "../../context/context.ts";
import { escapeReferences, offloadMembers, referencesIn, referenceText, savingTo } from "../../context/references.ts";
import { NovaError } from "../../errors.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Execution, Parent } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import { namedPerson, type Person } from "../../ports/people.ts";
import type { WorkflowVersion } from "../../ports/pipeline.ts";
import { defaultNext } from "../../protocol/definition.ts";
import { startInput } from "../../protocol/event.ts";
import { keepEventsFor } from "../waiting/events.ts";

export interface StartRequest {
  /** `exec_` and a ULID. A second start with the same id returns the same run. Absent: a new id. */
  id?: string;
  version: WorkflowVersion;
  /** JSON text of an object. Its values reach the nodes with all digits. */
  context: string;
  files?: readonly StartFile[];
  client?: string;
  trigger?: string;
  /** The person who starts the run, as NOVA has proved it. Approvals may exclude this person. */
  starter?: Person | undefined;
  /** Only pinned code runs, and no model is called, in this execution and in all executions that it runs. */
  frozen?: boolean;
  /**
   * Ids of prompt nodes whose code a model writes again, even if their code is stored or locked. See `freshProblem`.
   */
  fresh?: readonly string[];
  /** Outcomes that the run takes from a document. A node whose place has an outcome does not run. */
  outcomes?: GivenOutcomes;
  /**
   * Present: the run waits in the queue until it has a slot of each pool. Then the process that `admission` names, or a
   * caller of `beginExecution`, starts the run.
   */
  queue?: Required<Pick<Execution, "pools" | "admission">> & Pick<Execution, "rank">;
}

export interface GivenOutcomes {
  /** The text of a document of places, in the form that `chain/outcomes.ts` describes. */
  document: string;
  /**
   * The first execution of a family. A family is all executions that reuse outcomes of each other; they share their
   * blobs. The document refers to blobs of this family. Absent: this execution starts a new family.
   */
  root?: string;
  /** The earlier execution that this execution restarts or follows. */
  after?: string;
  tip?: string;
  /** Further members of the context, in stored form: large values are references to the family's blobs. */
  set?: readonly Member[];
  /** Nodes without an outcome run only if they have no effects, network or credentials. No model is called. */
  sealed?: boolean;
}

const defaultClient = "default";
const nextId = monotonicFactory();

/**
 * Starts an execution, or queues it. If the process dies before it has finished, a sweeper repeats the lost steps.
 * Throws `InputsRefused` if the context does not fit, and `OutcomesRefused` if the document of places is not valid.
 */
export async function startExecution(ports: Ports, request: StartRequest): Promise<Execution> {
  const { version, client = defaultClient, files = [], frozen = false, fresh = [], outcomes } = request;
  const { trigger, starter } = request;
  const keyed = files.filter((file) => "key" in file);
  const placed = files.filter((file) => "mark" in file);
  const keys = keyed.map(({ key }) => key);
  await refuseMisfits(version.workflow, request.context, keys);
  if (outcomes) checkOutcomes(outcomes.document);
  const { id = newId(ports) } = request;
  const home: BlobHome = { client, root: outcomes?.root ?? id };
  const opened = files.filter((file) => "open" in file);
  await saveFiles(ports, home, opened);
  const members = await offloadMembers(membersOf(placeFiles(request.context, placed)), savingTo(ports, home));
  const ofFiles = keyed.map((file) => ({ key: file.key, json: referenceOf(file) }));
  const set = [...(outcomes?.set ?? []), ...members, ...ofFiles];
  const plan = outcomes && (await planOf(ports, home, outcomes));
  const sealed = outcomes?.sealed ?? false;
  const start = { id, version, home, set, trigger, frozen: frozen || sealed, sealed, fresh, plan, starter };
  return begin(ports, start, request.queue);
}

async function planOf({ blobs }: Pick<Ports, "blobs">, home: BlobHome, { document, after, tip }: GivenOutcomes) {
  return { outcomes: await storeOutcomes(blobs, home, document), ...defined({ after, tip }) };
}

export function newId({ clock }: Pick<Ports, "clock">): string {
  return `exec_${nextId(clock.now())}`;
}

/** Writes entry 0 and the record of a run. Without a `queue` it also starts the state machine. */
export async function begin(ports: Ports, link: Omit<FirstEntry, "startedAt">, queue: StartRequest["queue"]) {
  const { id, version } = link;
  const startedAt = new Date(ports.clock.now()).toISOString();
  const entry = await buildFirstEntry(ports, { ...link, startedAt });
  const isNew = await ports.chain.putEntry({ execution: id, scope: "", seq: 0 }, entry);
  if (isNew) ports.tailCache.keep({ execution: id, scope: "", seq: 0 }, entry, ports.clock.now());
  const record = isNew ? await recordOf(ports, entry, version) : await readStartedRecord(ports, id, version);
  const execution: Execution = queue ? { ...record, ...queue, status: "queued" } : record;
  await createRecord(ports, execution);
  if (!queue) await beginExecution(ports, execution);
  return execution;
}

/** Starts the state machine of a run whose entry 0 and record are written. Does nothing if it runs already. */
export async function beginExecution({ stateMachines }: Pick<Ports, "stateMachines">, record: Execution) {
  await stateMachines.start(record.stateMachineArn, record.id, startInput(record));
}

/** Builds the record of a run whose entry 0 exists already, with the version that entry 0 names. */
async function readStartedRecord(ports: Ports, id: string, version: WorkflowVersion): Promise<Execution> {
  const { entry } = await ports.chain.read({ execution: id, scope: "", seq: 0 });
  if (!entry) throw new NovaError("ChainBroken", `execution ${id} has lost its link 0`);
  const head = headOf(entry);
  const own = await ports.workflows.get(head.workflow_id, head.workflow_version);
  return recordOf(ports, entry, own ?? version);
}

export function promptNodes({ nodes }: Pick<Workflow, "nodes">): string[] {
  return nodes.filter((node) => "executor" in node && node.executor.kind === "prompt").map(({ id }) => id);
}

/**
 * Returns why the code of the nodes in `fresh` cannot be written again: one sentence that also says what to do. Null if
 * the code can be written again.
 */
export function freshProblem(
  workflow: Pick<Workflow, "nodes">,
  { fresh = [], frozen = false }: Pick<StartRequest, "fresh" | "frozen">,
): string | null {
  if (fresh.length === 0) return null;
  if (frozen)
    return "a frozen run asks no model, and fresh code is a model's - leave out frozen (or NOVA_FROZEN), or fresh";
  const ids = promptNodes(workflow);
  const stranger = fresh.find((id) => !ids.includes(id));
  if (stranger === undefined) return null;
  const advice = ids.length === 0 ? "this workflow has none" : `its prompt nodes are ${ids.join(", ")}`;
  return `there is no prompt node "${stranger}" whose code could be written again - ${advice}`;
}

/** Thrown if the initial context does not fit the `inputs` of the workflow. It has one finding per misfit. */
export class InputsRefused extends Error {
  override name = "InputsRefused";
  readonly findings: Finding[];

  constructor(findings: Finding[]) {
    super(findings.map(({ message }) => message).join("\n"));
    this.findings = findings;
  }
}

/**
 * Rejects with `InputsRefused` if a context does not fit `inputs`. For values that come as files, the schema only
 * checks that they are present.
 */
export async function refuseMisfits(workflow: Pick<Workflow, "inputs">, context: string, fileKeys: string[]) {
  const findings = await checkContext(workflow, context, fileKeys);
  if (findings.length > 0) throw new InputsRefused(findings);
  if (measureOf(context).depth > deepestNesting) {
    const message = `the context is nested more than ${deepestNesting} levels deep - pass it as text, or as a file`;
    throw new InputsRefused([finding("NOVA506", "$", message)]);
  }
  const keys = [...fileKeys, ...(/\$|\\u0024/.test(context) ? membersOf(context).map(({ key }) => key) : [])];
  const mark = keys.find((key) => key.startsWith("$"));
  if (mark !== undefined) {
    const message = `the context has the key "${mark}" - such keys mark NOVA's references: use another name`;
    throw new InputsRefused([finding("NOVA502", "$", message)]);
  }
}

/**
 * Checks stored values in the same way as `refuseMisfits` checks a context. For values in blobs, the schema only checks
 * that they are present.
 */
export function refuseMisfitsOf(workflow: Pick<Workflow, "inputs">, members: readonly Member[]): Promise<void> {
  const groups = Map.groupBy(members, ({ json }) => referencesIn(json).length > 0);
  const keysInBlobs = (groups.get(true) ?? []).map(({ key }) => key);
  return refuseMisfits(workflow, objectText(groups.get(false) ?? []), keysInBlobs);
}

interface Stored {
  sha256: string;
  bytes: number;
}

interface Bytes extends Stored {
  open(): AsyncIterable<Uint8Array>;
}

/** A file for a key of the initial context. NOVA streams its bytes, so they are never in memory all together. */
export interface FileInput extends Bytes {
  key: string;
}

/** A file that replaces a text somewhere inside the initial context. */
export interface FileInPlace extends Bytes {
  /** The text that the file replaces, made by `newFileMark`. It occurs nowhere else in the context. */
  mark: string;
}

/** A file that is a blob of the execution already, for a key of the context or in place of a text. */
export type StoredFile = Stored & ({ key: string } | { mark: string });

export type StartFile = FileInput | FileInPlace | StoredFile;

/** Makes a random text, so that no text of a caller in the context is mistaken for a file. */
export function newFileMark(): string {
  return `nova-file-${randomUUID()}`;
}

const marks = /"nova-file-[0-9a-f-]{36}"/g;

/**
 * Replaces the texts that stand for files by references to their blobs. Escapes members of the context that already
 * look like references.
 */
export function placeFiles(context: string, files: readonly (Stored & Pick<FileInPlace, "mark">)[]): string {
  const escaped = escapeReferences(context);
  if (files.length === 0) return escaped;
  const references = new Map(files.map((file) => [`"${file.mark}"`, referenceOf(file)]));
  return escaped.replaceAll(marks, (mark) => references.get(mark) ?? mark);
}

async function saveFiles({ blobs }: Pick<Ports, "blobs">, home: BlobHome, files: readonly Bytes[]) {
  const contents = [...new Map(files.map((file) => [file.sha256, file])).values()];
  await atOnce(contents, ({ sha256, bytes, open }) => blobs.put(home, { sha256, bytes, type: "bytes" }, open()));
}

function referenceOf({ sha256, bytes }: Stored): string {
  return referenceText({ sha256, bytes, type: "bytes" });
}

export interface FirstEntry extends Pick<StartRequest, "version" | "frozen" | "fresh" | "starter"> {
  id: string;
  home: BlobHome;
  /** The initial context, large values in blobs. */
  set: Member[];
  /** A time in ISO 8601. */
  startedAt: string;
  parent?: Parent;
  trigger?: string | undefined;
  sealed?: boolean;
  origin?: Origin;
  plan?: Plan | undefined;
}

/**
 * Builds entry 0 with the initial context. First makes NOVA store, from now on, the events that the run may wait for.
 */
export async function buildFirstEntry(ports: Ports, link: FirstEntry): Promise<StoredEntry> {
  const { version, home, set, startedAt, frozen, sealed, fresh = [], plan, starter } = link;
  const { parent, trigger, origin } = link;
  await keepEventsFor(ports, version.workflow, startedAt);
  const changes = { set, delete: [] };
  const context = new Context().apply(changes, 0);
  const stored = await storeContext(context, emptyStored, changes, blobPages(ports.blobs, home));
  const labels = labelsOf(version.workflow, set);
  const node = startOf(version.workflow);
  const start = node && nodeIndex(version.workflow).get(node.id);
  return sealEntry(
    {
      execution_id: link.id,
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

/** Writes the record after entry 0. For a restart, also adds a note to the chain of the run that it restarts. */
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
 * Reads the labels of a run, by name, from its initial context; undefined if the run has none. A secret input counts as
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

/** Reads the labels of a run from its entry 0; undefined if the run never had labels, or if they were erased. */
export async function labelsIn({ blobs }: Pick<Ports, "blobs">, entry: StoredEntry) {
  const { labels } = entry.contents;
  return labels && (JSON.parse(await contentText(labels, headOf(entry), blobs)) as Record<string, string>);
}
