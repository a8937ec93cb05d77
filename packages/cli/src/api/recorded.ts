import type { ChainEntry, Execution, NovaClient, Schemas, WholeExecution } from "@nova/client";
import {
  type AtWork,
  type BlobRef,
  elementsOf,
  type Generation,
  membersOf,
  Names,
  type NodeDiff,
  RawJson,
  sha256 as sha256Of,
  type TraceEntry,
} from "@nova/engine";
import type { Ingredients, Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { demandUrl, fetchSigned, limitSize, nullIfMissing } from "./client.ts";

/** An execution as the API sends it. Large values in its context stay references. */
export type ShownExecution = Omit<WholeExecution, "context" | "at_work"> & { context: RawJson; at_work: AtWork };

export type ShownTrace = ShownExecution & { entries: TraceEntry[] };

export function isOpen({ status }: Pick<Execution, "status">): boolean {
  return status === "queued" || status === "running" || status === "waiting";
}

/** Leaves out the fields that are null, because the API sends null for an absent field. */
function withoutNulls<T extends Record<string, unknown>>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as never;
}

/** Reads an execution without its entries. */
export async function readWhole(nova: NovaClient, id: string): Promise<ShownExecution> {
  const params = { path: { id }, query: { references: "true" as const } };
  const execution = await nova.ask(nova.api.GET("/executions/{id}", { params }));
  return execution as unknown as ShownExecution;
}

/** Reads an execution with its entries. `full` adds their code, contexts and logs. */
export async function readTrace(nova: NovaClient, id: string, { full = false } = {}): Promise<ShownTrace> {
  const [whole, entries] = await Promise.all([
    readWhole(nova, id),
    Array.fromAsync(nova.executions.chain(id, { full, limit: 200 })),
  ]);
  return { ...whole, entries: asTraceEntries(entries) };
}

/** Compares two executions node by node. Numbers keep all digits. */
export async function readDiff(nova: NovaClient, a: string, b: string): Promise<NodeDiff[]> {
  const nodes = (await Array.fromAsync(nova.executions.diff(a, b))) as unknown as (NodeDiff & { context: RawJson })[];
  return nodes.map((node) => ({ ...node, context: elementsOf(node.context.text).map(changeFrom) }));
}

function changeFrom(text: string): NodeDiff["context"][number] {
  const { key, was, is } = Object.fromEntries(membersOf(text).map(({ key, json }) => [key, json]));
  const raw = (json = "null") => (json === "null" ? null : new RawJson(json));
  return { key: JSON.parse(key ?? '""'), was: raw(was), is: raw(is) };
}

/** Changes only the type of the entries, because the API sends entries in the engine's format. */
function asTraceEntries(entries: readonly ChainEntry[]): TraceEntry[] {
  return entries as unknown as TraceEntry[];
}

/** Lists the entries of all branches in the order of their timestamps. */
export function listEntries({ entries }: { entries: readonly TraceEntry[] }): TraceEntry[] {
  const all = (list: readonly TraceEntry[]): TraceEntry[] =>
    list.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => all(branch.entries))]);
  return all(entries).sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** Returns the error for a node that has no entry in the execution. */
export function notRunError(
  node: unknown,
  execution: string,
  entries: readonly { node_id: string; node_type?: string }[],
): InvalidInput {
  const nodes = entries.filter(({ node_type }) => node_type !== "close");
  const ran = [...new Set(nodes.map(({ node_id }) => node_id))].join(", ");
  return new InvalidInput(`node "${node}" has not run in ${execution} - these have: ${ran}`);
}

/** Reads a version of a workflow as it was published. */
export async function readWorkflow(nova: NovaClient, id: string, version: number): Promise<Workflow> {
  return (await nova.workflows.get(id, { version })).definition as unknown as Workflow;
}

/** Reads code that models wrote for a workflow. */
export async function readGenerations(nova: NovaClient, workflow: string): Promise<Generation[]> {
  return (await Array.fromAsync(nova.workflows.generations(workflow))).map((one) => generationFrom(one, workflow));
}

function generationFrom(item: Schemas["Generation"], workflowId: string): Generation {
  const { node, client_slug, status, key, code, origin, model, cost } = item;
  return {
    format: 1,
    workflowId,
    node,
    client: client_slug,
    status,
    key,
    code,
    codeHash: item.code_hash,
    ingredients: item.ingredients as Ingredients,
    origin,
    model,
    cost,
    createdAt: item.created_at,
    ...withoutNulls({
      analysis: item.analysis,
      analysisHash: item.analysis_hash,
      provenBy: item.proven_by,
      approved: item.approved,
    }),
  };
}

/** The largest size of an upload, and so of a blob. */
const maxBlobBytes = 1024 * 1024 * 1024;

/** Reads the bytes of a blob to which an execution's context refers. Returns null if the bytes were erased. */
export async function readBlob(nova: NovaClient, id: string, sha256: string): Promise<Uint8Array | null> {
  const asked = nova.api.GET("/executions/{id}/blobs/{sha256}", { params: { path: { id, sha256 } } });
  const link = await nullIfMissing(nova.ask(asked));
  if (!link) return null;
  demandUrl(link.url, `the bytes ${sha256} of ${id}`);
  const answer = await nullIfMissing(fetchSigned(link.url, `file ${sha256} of ${id}`));
  return answer && new Uint8Array(await limitSize(answer, maxBlobBytes).arrayBuffer());
}

/** Checks that bytes from a server are the bytes that the run recorded. Throws `InvalidInput`. */
export function demandContent({ sha256, bytes: length }: BlobRef, bytes: Uint8Array): void {
  if (bytes.length === length && sha256Of(bytes) === sha256) return;
  throw new InvalidInput(`the bytes ${sha256} are not what was recorded, so they are not used`);
}

/**
 * Makes a function that returns the new entries of a running execution: those that were added to the main line or to a
 * branch since the last call. The function reads an entry again only if the branches of this entry may still grow. It
 * reads nothing while the execution is open and has run no further node.
 */
export function entryReader(server: NovaClient, id: string, { full }: { full: boolean }) {
  /** The number of entries at the start of the main line that are complete with all their branches. */
  let whole = 0;
  let returned = new Set<string>();
  let nodes = -1;
  return async (execution: Pick<ShownExecution, "path" | "status">): Promise<TraceEntry[]> => {
    if (execution.path.length === nodes && isOpen(execution)) return [];
    nodes = execution.path.length;
    const cursor = Buffer.from(String(whole)).toString("base64url");
    const asked = { path: { id }, query: { ...(full && { full: "true" as const }), cursor } };
    const list = asTraceEntries(await Array.fromAsync(server.list("/executions/{id}/chain", asked)));
    const fresh = listEntries({ entries: list }).filter((entry) => !returned.has(entryName(entry)));
    const open = list.at(-1)?.branches ? list.slice(-1) : [];
    whole += list.length - open.length;
    returned = new Set(listEntries({ entries: open }).map(entryName));
    return fresh;
  };
}

/** Returns a name that identifies an entry inside its execution. */
export function entryName({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
  return `${scope}#${seq}`;
}

export interface Recorded {
  execution: { id: string; workflowId: string; version: number };
  entry: TraceEntry;
  before: readonly TraceEntry[];
  /** The place of the node, such as `find`, `poll#2` or `each[3].find`; `billing/send` in a child execution. */
  place: string;
  /** The place of the node in the first execution of a series of restarts. `NOVA_RESTART_KEY` contains this place. */
  origin: { execution: string; place: string };
}

export type RecordedTrace = Pick<ShownTrace, "execution_id" | "workflow" | "version" | "entries">;

/** Returns the id of the node in a place: `find` for `each[3].find#2`. */
export function nodeOfPlace(place: string): string {
  return (place.split("/").at(-1) ?? "").replace(/^.*\]\./, "").replace(/#\d+$/, "");
}

/**
 * Yields the recorded runs of all nodes in an execution, in order. `inside: true` adds the runs of nodes in its child
 * executions.
 */
export function* listRecorded(trace: RecordedTrace, inside = false): Iterable<Recorded> {
  const { execution_id: id, workflow: workflowId, version } = trace;
  const first = trace.entries[0]?.origin ?? { execution_id: id, place: "" };

  function* walk(
    execution: Recorded["execution"],
    placeOf: (entry: TraceEntry) => string,
    entries: readonly TraceEntry[],
    around: readonly TraceEntry[],
  ): Iterable<Recorded> {
    for (const [index, entry] of entries.entries()) {
      const before = [...around, ...entries.slice(0, index)];
      const place = placeOf(entry);
      const origin = { execution: first.execution_id, place: first.place + place };
      yield { execution, entry, before, place, origin };
      for (const branch of entry.branches ?? []) yield* walk(execution, placeOf, branch.entries, [...before, entry]);
      if (!inside || !entry.child?.entries) continue;
      const { execution_id: id, workflow: workflowId, version } = entry.child;
      const names = new Names();
      yield* walk({ id, workflowId, version }, (one) => `${place}/${names.of(one)}`, entry.child.entries, []);
    }
  }

  const names = new Names();
  yield* walk({ id, workflowId, version }, (entry) => names.of(entry), trace.entries, []);
}
