import { defined, type Node, nodeIndex, type RawJson } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { failedAttempts } from "../attempt/retry.ts";
import { contentOrNull, type Head, headOf, unlessErased } from "../chain/entry.ts";
import { isItem } from "../chain/ids.ts";
import { blobPages, loadContext } from "../context/context.ts";
import { nodeKinds } from "../kinds/table.ts";
import type { WaitsFor } from "../kinds/waiting/waiting-task.ts";
import type { EntryId, Link, StoredEntry, Turn } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { NamedPerson } from "../ports/people.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { findOpenedFork, opensFork } from "../protocol/branches.ts";
import { continuationName } from "../protocol/close.ts";
import { executionOf } from "../protocol/record.ts";
import { secretKeysOf, shownContext } from "../secrets/redactor.ts";
import { sha256 } from "../sha256.ts";
import { createEndedBranches, type EndedBranches, readBranches } from "./run-heads.ts";
import { attemptStep, type TraceStep } from "./trace-entry.ts";

/** The progress of a run, without the entries of its chain. */
export interface RunState {
  execution: Execution;
  /**
   * Ids of the nodes in the order in which they ran. The list includes start and end, but no joins and no close. Nodes
   * of branches follow their fork, branch by branch, although branches run at the same time.
   */
  path: string[];
  /** The newest context of the main line. */
  context: RawJson;
  atWork: AtWork;
  /** The name of the person who started the run; null if NOVA has proved no identity, or if the name was erased. */
  startedBy: string | null;
  /**
   * URLs of web pages about the run's Step Functions executions, in the order of these executions; empty if there are
   * no such pages.
   */
  pages: string[];
}

/**
 * Reads how far a run has come, from the heads of its entries. It reads no content except the newest context. Throws
 * `ExecutionNotFound` if the run does not exist.
 */
export async function readState(ports: Ports, id: string): Promise<RunState> {
  const execution = await executionOf(ports, id);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const reader = new HeadReader(ports, version !== undefined, endedBranches.of(ports, execution));
  const visits = await reader.scope(id, "");
  const context = reader.newest && (await readContext(ports, reader.newest, headOf(reader.newest)));
  const isOver = visits.at(-1)?.node_type === "close";
  const atWork = execution.open && !isOver ? await atWorkOf(ports, version, reader.held, visits) : nothingAtWork;
  return {
    execution,
    path: pathThrough(visits),
    context: shownContext(context?.slots() ?? [], secretKeysOf(version)),
    atWork,
    startedBy: await readStarter(ports, reader.first),
    pages: pagesOf(ports, execution, reader.continuations),
  };
}

class HeadReader {
  /** All turns without an entry that this reader has found. */
  readonly held: HeldTurn[] = [];
  /** The number of further executions of Step Functions in which loops of the main line continued. */
  continuations = 0;
  /** Entry 0 of the main line. */
  first: StoredEntry | undefined;
  /** The last entry of the main line that has a context. */
  newest: StoredEntry | undefined;
  readonly #ports: Ports;
  readonly #hasVersion: boolean;
  readonly #ended: EndedBranches<Visit>;

  /** Without the version of the workflow, the reader reads no branches. */
  constructor(ports: Ports, hasVersion: boolean, ended: EndedBranches<Visit>) {
    this.#ports = ports;
    this.#hasVersion = hasVersion;
    this.#ended = ended;
  }

  /**
   * Reads the heads of a scope. `known` are the turns and entries of the scope, if the caller has already read them.
   */
  async scope(execution: string, scope: string, known?: readonly Link[]): Promise<Visit[]> {
    const visits: Visit[] = [];
    for await (const { seq, turn, entry } of known ?? this.#ports.chain.links(execution, scope)) {
      if (!entry && turn?.state === "held") this.held.push({ at: { execution, scope, seq }, turn });
      if (entry) visits.push(await this.#visit(entry));
    }
    return visits;
  }

  async #visit(entry: StoredEntry): Promise<Visit> {
    const head = headOf(entry);
    const { node_id, node_type, status, path_taken, scope, seq } = head;
    if (scope === "") this.continuations = head.continuation?.number ?? this.continuations;
    if (scope === "" && seq === 0) this.first = entry;
    if (scope === "" && head.digests.context) this.newest = entry;
    const visit: Visit = { node_id, node_type, status, path_taken, scope, seq };
    const open = this.#hasVersion && opensFork(head) ? await findOpenedFork(this.#ports, entry) : null;
    if (!open) return visit;
    const read = (inside: string, known?: readonly Link[]) => this.scope(head.execution_id, inside, known);
    const branches = await readBranches(this.#ports, open, read, this.#ended);
    return { ...visit, branches };
  }
}

const endedBranches = createEndedBranches<Visit>({ hasContents: false });

async function readStarter(ports: Ports, first: StoredEntry | undefined): Promise<string | null> {
  const text = first ? await contentOrNull(ports, first, headOf(first), "starter") : null;
  return text === null ? null : (JSON.parse(text) as NamedPerson).name;
}

/** Reads the context after an entry; null if it was erased. */
export async function readContext({ blobs }: Pick<Ports, "blobs">, entry: StoredEntry, head: Head) {
  const text = await contentOrNull({ blobs }, entry, head, "context");
  if (text === null) return null;
  return unlessErased(async () => (await loadContext(text, blobPages(blobs, head))).context);
}

function pagesOf({ stateMachines }: Ports, { id, status, stateMachineArn }: Execution, continuations: number) {
  if (status === "queued") return [];
  const further = Array.from({ length: continuations }, (_, index) => continuationName(id, index + 1));
  return [id, ...further].flatMap((name) => stateMachines.page(stateMachineArn, name) ?? []);
}

function pathThrough(visits: readonly Visit[]): string[] {
  return visits.flatMap(({ node_id, node_type, branches = [] }) => [
    ...(node_type === "close" || node_type === "join" ? [] : [node_id]),
    ...branches.flatMap((branch) => pathThrough(branch.entries)),
  ]);
}

/**
 * The largest number of open branches that `traceTag` reads. Reading more branches would cost as much as the trace
 * itself.
 */
const maxBranches = 20;

/**
 * Returns a text that differs whenever the state of a run or its chain of work differs. The text is a hash of the
 * record and the last items of each open scope. It costs one read for each open scope, and no read after the end of the
 * execution. Returns undefined if more than `maxBranches` branches are open.
 */
export async function traceTag(ports: Ports, execution: Execution): Promise<string | undefined> {
  const tips = execution.open ? await openTips(ports, execution.id, "", { left: maxBranches }) : [];
  return tips && sha256(JSON.stringify([execution, tips]));
}

/**
 * Returns the last items of a scope and, if the scope ends with a fork, also the last items of the branches of that
 * fork. New entries can appear only after these items.
 */
async function openTips(
  ports: Ports,
  execution: string,
  scope: string,
  budget: { left: number },
): Promise<unknown[] | undefined> {
  const links = await ports.chain.tip(execution, scope);
  const tips: unknown[] = links.map(({ seq, turn, entry }: Link) => [scope, seq, turn, entry?.hash]);
  const last = links.filter(({ entry }) => entry).sort((a, b) => b.seq - a.seq)[0];
  const fork = last?.entry && (await findOpenedFork(ports, last.entry));
  if (!fork) return tips;
  budget.left -= fork.branches.length;
  if (budget.left < 0) return undefined;
  const inside = await atOnce(fork.branches, (branch) => openTips(ports, execution, branch.scope, budget));
  return inside.every((one) => one !== undefined) ? [...tips, ...inside] : undefined;
}

/** The nodes of an execution that run or wait at this time; field names are public. */
export interface AtWork {
  /** The number of nodes that have a turn and no entry yet, including nodes that wait. */
  count: number;
  nodes: NodeAtWork[];
  maps: MapProgress[];
}

export interface NodeAtWork extends Pick<EntryId, "scope" | "seq"> {
  node_id: string;
  /** The type of the node; null if NOVA no longer stores the workflow. */
  node_type: string | null;
  /** Starts at 1. A higher number means that the attempts before it failed, or lost their sandbox. */
  attempt: number;
  /** A time in ISO 8601. */
  since: string;
  /** The reason why the node waits; null while the code of the node runs or a model writes the code. */
  waits_for: WaitsFor | null;
  /** The failed attempts of the node so far, in the same form as in an entry. Absent if no attempt has failed. */
  attempts?: TraceStep[];
}

interface MapProgress extends Pick<EntryId, "scope" | "seq"> {
  node_id: string;
  items: number;
  /** The number of ended items, including failed items. */
  done: number;
  failed: number;
}

/** A turn for which there is no entry yet. */
export interface HeldTurn {
  at: EntryId;
  turn: Turn;
}

/** The largest number of nodes to list, because a map may run thousands of nodes at the same time. */
const maxListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/**
 * Describes the nodes at work. `held` has every turn of the chain for which there is no entry yet. `visits` has the
 * entries of the main line.
 */
export async function atWorkOf(
  ports: Ports,
  version: WorkflowVersion | undefined,
  held: readonly HeldTurn[],
  visits: readonly Visit[],
): Promise<AtWork> {
  const listed = held.toSorted((a, b) => (a.turn.since < b.turn.since ? -1 : 1)).slice(0, maxListed);
  const nodes = await Promise.all(listed.map((one) => nodeAtWork(ports, version, one)));
  return { count: held.length, nodes, maps: openMaps(visits) };
}

async function nodeAtWork(ports: Ports, version: WorkflowVersion | undefined, held: HeldTurn): Promise<NodeAtWork> {
  const { execution: _, ...place } = held.at;
  const { node: node_id, attempt, since } = held.turn;
  const node = version && nodeIndex(version.workflow).get(node_id)?.node;
  const [waits_for, attempts] = await Promise.all([
    node ? waitOf(ports, node, held) : null,
    attemptsOf(ports, node, held),
  ]);
  const told = attempts.length > 0 ? attempts : undefined;
  return defined({ node_id, node_type: node?.type ?? null, ...place, attempt, since, waits_for, attempts: told });
}

/**
 * Returns the failed attempts of a node at work. A node in its first attempt has no failed attempt, so most turns need
 * no read.
 */
async function attemptsOf(ports: Ports, node: Node | undefined, { at, turn }: HeldTurn): Promise<TraceStep[]> {
  if (turn.attempt === 1 && turn.due === undefined) return [];
  return (await failedAttempts(ports, at)).map((record) => attemptStep(record, node));
}

async function waitOf(ports: Ports, node: Node, { at, turn }: HeldTurn): Promise<WaitsFor | null> {
  if (turn.due !== undefined && turn.sandbox === null) return { kind: "retry", until: turn.due };
  return (await nodeKinds[node.type].waitsFor?.(ports, node, at, turn)) ?? null;
}

/** The facts about an entry that tell how far its scope has come. For a fork, also the facts about its branches. */
export interface Visit extends Pick<Head, "node_id" | "node_type" | "status" | "path_taken" | "scope" | "seq"> {
  branches?: readonly { branch: string; entries: readonly Visit[] }[];
}

/** Returns the progress of each map that has not ended, so that no entry follows its fork. */
function openMaps(visits: readonly Visit[]): MapProgress[] {
  const last = visits.at(-1);
  if (!last?.branches) return [];
  const { node_id, scope, seq, branches } = last;
  const inside = branches.flatMap((branch) => openMaps(branch.entries));
  if (!branches.some(({ branch }) => isItem(branch))) return inside;
  const ends = branches.flatMap(({ entries: inItem }) => inItem.at(-1) ?? []).filter((end) => end.path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  return [{ node_id, scope, seq, items: branches.length, done: ends.length, failed }, ...inside];
}
