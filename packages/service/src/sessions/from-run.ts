import { branchOf, type Execution, isItem, objectText, readInput, Source } from "@nova/engine";
import { NotFound, Refused } from "../errors.ts";
import { executionWithin } from "../executions/executions.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeRecord, SessionState } from "../ports/sessions.ts";
import { isDraftId } from "../workflows/find.ts";
import { isStep, sha256Of, shortList } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { judgeFreshness } from "./freshness.ts";
import { draftOfNodes } from "./from-workflow.ts";

export interface RunPlace {
  run: string;
  /** The place of an entry, as restarts name it: `find`, `each[3].find`. Absent: the node that failed the run. */
  place?: string;
}

/**
 * Builds a session around one entry of a run: the node of the entry, and before it the nodes whose outputs it could
 * read, with these outputs. A run of the node starts with the context that the entry had. Throws `ExecutionNotFound`,
 * `NotFound`, `Refused`.
 */
export async function buildFromRun(ports: ServicePorts, by: Principal, { run, place }: RunPlace) {
  const execution = await executionWithin(ports, by, run);
  if (execution.erased) throw new Refused(`the contents of ${run} were erased - take another run`);
  if (isDraftId(execution.workflowId)) throw new Refused(`${run} is a run of a session - open that session`);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  if (!version) throw new Refused(`the version of ${run} was removed - take a newer run`);
  const source = await Source.read(ports, run);
  const { head } = findEntry(execution, source, place);
  const before = listOutcomesBefore(source, head);
  before.delete(head.node_id);
  const draft = draftOfNodes(version.workflow, [...before.keys(), head.node_id]);
  const node = draft.nodes.at(-1);
  if (node?.id !== head.node_id || !isStep(node))
    throw new Refused(`"${head.node_id}" is a ${head.node_type}, which does nothing by itself - name another place`);
  const context = await readStart(ports, run);
  const at = { execution: run, scope: head.scope, seq: head.seq };
  const unjudged: SessionState = {
    draft,
    context,
    workflow: execution.workflowId,
    nodes: Object.fromEntries(draft.nodes.map(({ id }) => [id, withOutcome(before.get(id), run)])),
    family: { root: execution.root, last: run },
    recorded: { ...at, node: node.id, version: execution.version, context: sha256Of(context) },
    runs: [],
    published: [],
    changes: [],
  };
  const state = { ...unjudged, nodes: withBases(unjudged) };
  return { state, client: execution.client, name: `${version.workflow.name}: ${node.id}` };
}

function findEntry({ id, error }: Execution, source: Source, place: string | undefined) {
  const entries = Array.from(source.entries.values());
  const found =
    place === undefined
      ? entries.findLast(({ head }) => head.status === "failed" && head.node_id === error?.node)
      : source.entries.get(place);
  if (found) return found;
  if (place === undefined) throw new Refused(`${id} has no failed node - name a place of the run`);
  throw new NotFound(`${id} has no place "${place.slice(0, 200)}" - it has ${shortList([...source.entries.keys()])}`);
}

type Entry = Source["last"] & object;
type Head = Entry["head"];

/** Finds the last outcome of each node that ran before an entry and whose output that entry could read. */
function listOutcomesBefore(source: Source, target: Head): Map<string, Entry> {
  const found = new Map<string, Entry>();
  const maps = new Set<string>();
  for (const entry of source.entries.values()) {
    const { node_id, node_type, status, path_taken } = entry.head;
    if (!canBeRead(entry.head, target)) continue;
    if (node_type === "map") maps.add(node_id);
    if (node_type === "start" || (node_type === "map" && status === "success")) continue;
    if (status === "failed" && path_taken === null) continue;
    const fork = node_type === "join" ? node_id.replace(/\.join$/, "") : node_id;
    // The join of parallel branches is the outcome of no node.
    if (node_type === "join" && !maps.has(fork)) continue;
    // The order of the last outcomes is the order in which they were applied to the context.
    found.delete(fork);
    found.set(fork, entry);
  }
  return found;
}

/** Whether an entry ran before `target`, and not inside an item of another map. */
function canBeRead(entry: Head, target: Head): boolean {
  const [own, others] = [listSteps(entry), listSteps(target)];
  const apart = own.findIndex((step, depth) => step.scope !== others[depth]?.scope || step.seq !== others[depth].seq);
  const depth = apart < 0 ? own.length - 1 : apart;
  const [mine, theirs] = [own[depth], others[depth]];
  if (!mine || !theirs || mine.scope !== theirs.scope) return false;
  const isAround = depth === own.length - 1 && mine.seq === theirs.seq && depth < others.length - 1;
  if (mine.seq > theirs.seq || (mine.seq === theirs.seq && !isAround)) return false;
  return own.slice(depth + 1).every(({ scope }) => !isItem(branchOf(scope)?.branch ?? ""));
}

/** Lists the forks around an entry, outermost first; the entry itself comes last. */
function listSteps({ scope, seq }: Pick<Head, "scope" | "seq">): { scope: string; seq: number }[] {
  const branch = branchOf(scope);
  return [...(branch ? listSteps({ scope: branch.parent, seq: branch.seq }) : []), { scope, seq }];
}

function withOutcome(entry: Entry | undefined, execution: string): NodeRecord {
  if (!entry) return { version: 1 };
  const { hash, head } = entry;
  const { scope, seq, decision_result: decision, status } = head;
  const outcome = {
    id: hash,
    basis: "",
    ...(decision !== null && { decision }),
    ...(status === "failed" && { failed: true as const }),
    source: { execution, scope, seq, hash },
  };
  return { version: 1, outcome };
}

/** Gives each outcome the basis of its recorded inputs, so that it is fresh until the draft changes. */
function withBases(state: SessionState): Record<string, NodeRecord> {
  const all = judgeFreshness(state, buildDraftGraph(state.draft));
  return Object.fromEntries(
    Object.entries(state.nodes).map(([id, { version, outcome }]) => {
      const basis = all.get(id)?.basis ?? "";
      return [id, { version, ...(outcome && { outcome: { ...outcome, basis } }) }];
    }),
  );
}

/** The initial context of a run as JSON text. Large values are references to the blobs of the run. */
async function readStart(ports: ServicePorts, execution: string): Promise<string> {
  const context = await readInput(ports, { execution, scope: "", seq: 1 });
  return objectText(context.slots().filter(({ key }) => !key.startsWith("$")));
}
