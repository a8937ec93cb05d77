import { type Member, membersOf, nodeIndex } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type EntryReference, maxDocumentBytes, storeOutcomes, writeReferences } from "../chain/outcomes.ts";
import { contextAfter } from "../chain/position.ts";
import { escapeReferences, offloadMembers, savingTo } from "../context/references.ts";
import { begin, newId, refuseMisfitsOf, type StartRequest } from "../kinds/start/start.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Person } from "../ports/people.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { findCalledVersion } from "../protocol/definition.ts";
import { originOf } from "../protocol/recorded.ts";
import { followSource, type SourcePath } from "./follow-source.ts";
import { isStep, RestartRefused, type ReuseSelection, selectEntriesBefore, shortList } from "./selection.ts";
import { entryKey, type Reads, Source, type SourceEntry } from "./source.ts";

export interface RestartRequest {
  /** An execution that has ended. */
  source: Execution;
  version: WorkflowVersion;
  /**
   * The places where the run starts again. The nodes at these places and all nodes after them run. Absent or empty: the
   * run starts again at the nodes that failed.
   */
  from?: string | readonly string[];
  /** JSON text of an object: other values for keys of the initial context. */
  patch?: string;
  again?: readonly string[];
  by: string;
  /** The person who restarts the run, as NOVA has proved it. */
  starter?: Person | undefined;
}

/**
 * Starts an execution that reuses outcomes. Before it writes, throws `RestartRefused` if the restart is not possible,
 * and `InputsRefused` if the patched context does not fit.
 */
export async function restartExecution(ports: Ports, request: RestartRequest & Pick<StartRequest, "id" | "queue">) {
  const restart = await planRestart(ports, request);
  const { id = newId(ports), source, version, again = [], by, starter } = request;
  const [misfit] = restart.forecast.misfits;
  const advice = "restart from before that, or with another version";
  if (misfit !== undefined)
    throw new RestartRefused(`version ${version.version} does not fit ${source.id}: ${misfit} - ${advice}`);
  const home: BlobHome = { client: source.client, root: source.root };
  const set = await offloadMembers(restart.set, savingTo(ports, home));
  const origin = await originOf(ports, { execution: source.id, root: source.root });
  const from = [request.from ?? []].flat();
  const keys = patchOf(request).map(({ key }) => key);
  const plan = {
    outcomes: await storeOutcomes(ports.blobs, home, restart.document),
    after: source.id,
    tip: source.tip ?? "",
    ...(from.length > 0 && { from }),
    ...(again.length > 0 && { again: [...again] }),
    ...(keys.length > 0 && { patch: { keys, by } }),
  };
  const link = { id, version, home, set, frozen: restart.frozen, origin, plan, starter };
  return { ...restart, execution: await begin(ports, link, request.queue) };
}

/**
 * Plans a restart: reads the source run and builds the document of places, but stores nothing. Throws `RestartRefused`
 * if the restart is not possible, and `InputsRefused` if the patched context does not fit.
 */
export async function planRestart(ports: Ports, request: RestartRequest) {
  const { source: record, version, again = [] } = request;
  // A record gets a `tip` when the run ends, so this check reads the `tip`. The record may stay `open` longer, while
  // steps after the end are still under way.
  if (record.tip === undefined)
    throw new RestartRefused(`execution ${record.id} is open - wait for its end, or cancel it`);
  if (record.erased) throw new RestartRefused(`the contents of execution ${record.id} were erased - start a new one`);
  const source = await Source.read(ports, record.id);
  const entries = [...source.entries.values()];
  const stranger = again.find((id) => !entries.some(({ head }) => head.node_id === id));
  if (stranger !== undefined) {
    const known = new Set(entries.flatMap(({ head }) => (isStep(head.node_type) ? [head.node_id] : [])));
    throw new RestartRefused(
      `execution ${record.id} never came to a node "${stranger}" - it came to ${shortList([...known])}`,
    );
  }
  const before = await selectEntriesBefore(ports, source, [request.from ?? []].flat(), record.id);
  const hasFailed = record.status !== "completed" || entries.some(({ isTolerated }) => isTolerated);
  if (!hasFailed && !before.from && again.length === 0)
    throw new RestartRefused(`execution ${record.id} was completed - say from which node`);
  const selection: ReuseSelection = { ...before, again };
  const path = followSource(source, version, selection);
  const set = await initialContext(ports, request, source, path);
  return {
    document: writeDocument(await collectReferences(ports, version, selection, path, "")),
    forecast: buildForecast(source, version, path),
    set,
    frozen: source.scope("")[0]?.head.frozen === true,
  };
}

function patchOf({ patch = "{}" }: RestartRequest): Member[] {
  return membersOf(escapeReferences(patch));
}

/**
 * Builds the initial context of the restart: the initial context of the source, with the patch. Checks the result like
 * the initial context of any run.
 */
async function initialContext(ports: Ports, request: RestartRequest, source: Source, path: SourcePath) {
  const { id } = request.source;
  const patch = patchOf(request);
  const { context } = await contextOf(ports, id, 0);
  if (patch.length > 0) await refuseOverwritten(ports, id, patch, source, path);
  const patched = context.apply({ set: patch, delete: [] }, 0);
  const members = patched.slots().map(({ key, json }) => ({ key, json }));
  await refuseMisfitsOf(request.version.workflow, members);
  return members;
}

/**
 * Refuses a patch of a key that a reused outcome sets, because the value of that outcome would replace the patched
 * value.
 */
async function refuseOverwritten(ports: Ports, id: string, patch: readonly Member[], source: Source, path: SourcePath) {
  const reused = new Set(path.reused.values());
  const last = source.scope("").findLast((entry) => reused.has(entry));
  if (!last) return;
  const { context } = await contextOf(ports, id, last.head.seq);
  const hidden = patch.find(({ key }) => (context.slot(key)?.by ?? 0) !== 0);
  if (hidden === undefined) return;
  const by = context.slot(hidden.key)?.by;
  const writer = [...source.entries.values()].find(({ head }) => head.scope === "" && head.seq === by)?.name;
  const advice = writer === undefined ? "restart from an earlier node" : `restart from "${writer}", or before it`;
  throw new RestartRefused(`the patch sets "${hidden.key}", which a node sets that is not run again - ${advice}`);
}

async function contextOf(ports: Ports, execution: string, seq: number) {
  const { entry } = await ports.chain.read({ execution, scope: "", seq });
  if (!entry || !("context" in entry.contents))
    throw new RestartRefused(`the contents of execution ${execution} were erased - start a new one`);
  return contextAfter(entry, ports.blobs);
}

export type PlaceReference = [place: string, EntryReference];

/**
 * Collects the references to the outcomes of one execution that the restart reuses. If an inner execution failed and
 * continues, also collects the outcomes inside the inner execution. `inside`: the prefix of the places of that
 * execution in the document, such as `billing/`.
 */
async function collectReferences(
  ports: Reads,
  version: WorkflowVersion,
  { again = [], inside: parts = {} }: ReuseSelection,
  { reused, stops }: SourcePath,
  inside: string,
): Promise<PlaceReference[]> {
  const all = Array.from(reused, ([place, entry]): PlaceReference => [inside + place, buildReference(entry)]);
  const further = await atOnce([...stops], async ([place, { head }]): Promise<PlaceReference[]> => {
    const part = parts[entryKey(head)];
    const runsAll = again.includes(head.node_id) || (part === undefined && head.status === "success");
    const node = nodeIndex(version.workflow).get(head.node_id)?.node;
    if (!head.child || runsAll || !node || !("workflow" in node)) return [];
    const called = await findCalledVersion(ports, node);
    const source = await Source.read(ports, head.child.execution);
    if ("problem" in called || !source.last) return [];
    const selection = { ...part, again };
    // The called workflow may have a new version. If an outcome does not fit that version, the node of that outcome
    // runs.
    const path = followSource(source, called, selection);
    const start = `${inside}${place}/`;
    const references = await collectReferences(ports, called, selection, path, start);
    return [[start, buildReference(source.last)], ...references];
  });
  return [...all, ...further.flat()];
}

export function buildReference({ head: { execution_id: execution, scope, seq } }: SourceEntry): EntryReference {
  return { entry: { execution, scope, seq } };
}

/** Writes a document of references. Throws `RestartRefused` if the document is too large. */
export function writeDocument(references: Iterable<PlaceReference>): string {
  const text = writeReferences(references);
  if (Buffer.byteLength(text) <= maxDocumentBytes) return text;
  throw new RestartRefused("the run would reuse more outcomes than one document can name - start a new execution");
}

/**
 * The effects that NOVA expects of a restart, before the restart starts. Names of places have the form of
 * `SourceEntry.name`.
 */
export interface Forecast {
  reused: string[];
  /**
   * The places of the nodes that run, and of all nodes that may follow them. A place is `each[*].find` if the items are
   * not known yet.
   */
  runs: string[];
  /** The nodes of `runs` that have run before and are not declared to be without effects. */
  again: string[];
  misfits: string[];
  /** The cost of the nodes in `runs` in the source, and how long their code took there. */
  estimate: { cost_usd: number; execution_time_ms: number };
}

function buildForecast(source: Source, { workflow }: WorkflowVersion, path: SourcePath): Forecast {
  const { reused, runs, misfits } = path;
  const places = [...runs.keys()];
  const before = places.flatMap((place) => source.entries.get(place) ?? []);
  const runsAgain = (place: string) => {
    const node = nodeIndex(workflow).get(runs.get(place) ?? "")?.node;
    if (!node || !("executor" in node)) return false;
    const isSame = ({ head, name }: SourceEntry) => (place.includes("[*]") ? head.node_id === node.id : name === place);
    return node.effects !== false && source.entries.values().some(isSame);
  };
  return {
    reused: [...reused.keys()],
    runs: places,
    again: places.filter(runsAgain),
    misfits: [...misfits],
    estimate: {
      cost_usd: before.reduce((sum, { spent }) => sum + (spent?.cost_usd ?? 0), 0),
      execution_time_ms: before.reduce((sum, { head }) => sum + (head.code === null ? 0 : head.execution_time_ms), 0),
    },
  };
}
