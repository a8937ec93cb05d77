import { defined, type Member, type Node, nodeIndex, type RawJson } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { failedAttempts } from "../attempt/retry.ts";
import { type ChildTip, contentOrNull, type Head, headOf, unlessErased } from "../chain/entry.ts";
import { branchOf, isItem } from "../chain/ids.ts";
import { branchStart, contextBefore, failureOf, inputAfter } from "../chain/position.ts";
import { blobPages, type Context, linkLabel, loadContext, loadStored } from "../context/context.ts";
import { nodeKinds } from "../kinds/table.ts";
import type { WaitsFor } from "../kinds/waiting/waiting-task.ts";
import type { EntryId, Link, StoredEntry, Turn } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { findOpenedFork, type OpenFork, opensFork } from "../protocol/branches.ts";
import { continuationName } from "../protocol/close.ts";
import { executionOf } from "../protocol/record.ts";
import { type SecretKeys, secretKeysOf, shownContext } from "../secrets/redactor.ts";
import { sha256 } from "../sha256.ts";
import { branchParts } from "./run-heads.ts";
import {
  attemptStep,
  publicHead,
  ToldCode,
  type TraceBranch,
  type TraceEntry,
  type TraceStep,
  traceStep,
} from "./trace-entry.ts";

export interface Trace {
  execution: Execution;
  entries: TraceEntry[];
  /**
   * Ids of the nodes in the order in which they ran, start and end included; joins and the close are left out. Nodes of
   * branches follow their fork, branch by branch, although branches run at the same time.
   */
  path: string[];
  context: RawJson;
  atWork: AtWork;
  /** URLs of the run's Step Functions executions, the first one first; empty if they have no page for people. */
  pages: string[];
}

/** Reads the chain of work of an execution with its branches. Erased contents are null. Throws `ExecutionNotFound`. */
export async function readTrace(ports: Ports, id: string, { full = false } = {}): Promise<Trace> {
  const execution = await executionOf(ports, id);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const reader = new TraceReader(ports, version, full);
  const { entries, context } = await reader.scope(id, "");
  const isOver = entries.at(-1)?.node_type === "close";
  const atWork = execution.open && !isOver ? await atWorkOf(ports, version, reader.held, entries) : nothingAtWork;
  const known = { context: reader.shown(context?.slots() ?? []), path: pathThrough(entries) };
  return { execution, entries, ...known, atWork, pages: pagesOf(ports, execution, reader.continuations) };
}

function pagesOf(
  { stateMachines }: Ports,
  { id, status, stateMachineArn }: Execution,
  continuations: number,
): string[] {
  if (status === "queued") return [];
  const further = Array.from({ length: continuations }, (_, index) => continuationName(id, index + 1));
  return [id, ...further].flatMap((name) => stateMachines.page(stateMachineArn, name) ?? []);
}

function pathThrough(entries: TraceEntry[]): string[] {
  return entries.flatMap(({ node_id, node_type, branches = [] }) => [
    ...(node_type === "close" || node_type === "join" ? [] : [node_id]),
    ...branches.flatMap((branch) => pathThrough(branch.entries)),
  ]);
}

/** An entry, and the context after it. The context is null if it was erased. */
interface Before {
  entry: StoredEntry;
  context: Context | null;
}

class TraceReader {
  /** All turns without an entry that this reader has found. */
  readonly held: HeldTurn[] = [];
  /** The number of Step Functions executions after the first one, in which loops of the main line continued. */
  continuations = 0;
  readonly #ports: Ports;
  readonly #version: WorkflowVersion | undefined;
  readonly #full: boolean;
  readonly #codes: ToldCode;
  readonly #secrets: SecretKeys;

  constructor(ports: Ports, version: WorkflowVersion | undefined, full: boolean) {
    this.#ports = ports;
    this.#version = version;
    this.#full = full;
    this.#secrets = secretKeysOf(version);
    this.#codes = new ToldCode(ports, version);
  }

  shown(members: readonly Member[]): RawJson {
    return shownContext(members, this.#secrets);
  }

  /**
   * Reads the entries of a scope. `fork` is the fork's entry if the scope is a branch. `known` are the turns and
   * entries of the scope if the caller has read them.
   */
  async scope(execution: string, scope: string, fork?: Before, known?: readonly Link[]) {
    const entries: TraceEntry[] = [];
    let before = fork;
    for await (const { seq, turn, entry } of known ?? this.#ports.chain.links(execution, scope)) {
      if (!entry && turn?.state === "held") this.held.push({ at: { execution, scope, seq }, turn });
      if (!entry) continue;
      const { told, context } = await this.link({ execution, scope, seq }, entry, before);
      before = { entry, context };
      entries.push(told);
    }
    return { entries, context: before?.context ?? null };
  }

  /** Reads one entry in public form, with the branches that it opens, and returns the context after it. */
  async link(at: EntryId, entry: StoredEntry, before: Before | undefined) {
    const head = headOf(entry);
    if (at.scope === "") this.continuations = head.continuation?.number ?? this.continuations;
    const context = head.digests.context ? await this.contextOf(entry, head) : (before?.context ?? null);
    const input = this.#full && before ? await this.#inputOf(at, before) : null;
    const told = await this.#told(entry, head, context, input);
    const branches = opensFork(head) ? await this.#branches({ entry, context }) : undefined;
    return { told: { ...told, ...(branches && { branches }) }, context };
  }

  async #branches(fork: Before): Promise<TraceBranch[] | undefined> {
    const open = this.#version && (await findOpenedFork(this.#ports, fork.entry));
    if (!open) return undefined;
    const tell = async ({ name, scope }: OpenFork["branches"][number], known?: readonly Link[]) => {
      const { entries } = await this.scope(open.head.execution_id, scope, fork, known);
      return { branch: name, scope, entries };
    };
    const branches: TraceBranch[] = [];
    for await (const { part, linksOf } of branchParts(this.#ports, open)) {
      branches.push(...(await atOnce(part, (branch) => tell(branch, linksOf(branch.scope)))));
    }
    return branches;
  }

  /**
   * Returns the context that the node received: the context before it, with the members that an item or a failure adds.
   */
  async #inputOf(at: EntryId, { entry, context }: Before): Promise<Context | null> {
    if (!context) return null;
    if (at.scope === "" || at.seq > 1) return inputAfter(entry, context, this.#ports.blobs);
    const start = await branchStart(this.#ports, entry, at.scope);
    const input = await unlessErased(() => contextBefore(this.#ports, { ...start, at, next: { seq: at.seq } }));
    return input?.context ?? null;
  }

  async #told(entry: StoredEntry, head: Head, context: Context | null, input: Context | null): Promise<TraceEntry> {
    const ports = this.#ports;
    const failure = head.digests.error ? await unlessErased(() => failureOf(entry, ports.blobs)) : null;
    const ownSet = head.node_type === "close" ? [] : (context?.writtenBy(linkLabel(head)) ?? []);
    const steps = await this.#stepsOf(head);
    const error = failure?.message ?? null;
    const code = this.#full || this.#codes.isWritten(head) ? await this.#codes.of(entry, head) : null;
    return {
      ...publicHead(head),
      ai_metadata: await this.#codes.metadata(entry, head, { steps, code, error }),
      error_message: error,
      traceback: failure?.traceback ?? null,
      changes: { set: this.shown(ownSet), delete: await deletedBy(ports, entry, head) },
      hash: entry.hash,
      steps,
      ...(this.#full && {
        code_executed: code ?? this.#codes.promptOf(head),
        input_context: input && this.shown(input.slots()),
        output_result: context && this.shown(context.slots()),
        logs: await contentOrNull(ports, entry, head, "logs"),
      }),
      ...(head.child && { child: await this.#childOf(head.child) }),
    };
  }

  async #stepsOf(head: Head): Promise<TraceStep[]> {
    if (head.steps.length === 0) return [];
    const at = { execution: head.execution_id, scope: head.scope, seq: head.seq };
    const stored = await this.#ports.chain.steps(at);
    const listed = head.steps.flatMap((hash) => stored.filter((step) => step.hash === hash && step.text !== ""));
    const node = this.#version && nodeIndex(this.#version.workflow).get(head.node_id)?.node;
    return Promise.all(listed.map((step) => traceStep(this.#ports, step, head, { full: this.#full, node })));
  }

  /**
   * Describes a child execution, with its entries if the trace is full. The secret keys of the child are those of its
   * own workflow, so its entries need a separate reader.
   */
  async #childOf({ execution, workflow, version: number }: ChildTip): Promise<NonNullable<TraceEntry["child"]>> {
    const child = { execution_id: execution, workflow, version: number };
    if (!this.#full) return child;
    const version = await this.#ports.workflows.get(workflow, number);
    const { entries } = await new TraceReader(this.#ports, version, true).scope(execution, "");
    return { ...child, entries };
  }

  async contextOf(entry: StoredEntry, head: Head): Promise<Context | null> {
    const text = await contentOrNull(this.#ports, entry, head, "context");
    if (text === null) return null;
    return unlessErased(async () => (await loadContext(text, blobPages(this.#ports.blobs, head))).context);
  }
}

async function deletedBy(ports: Ports, entry: StoredEntry, head: Head): Promise<string[]> {
  const text = head.digests.context ? await contentOrNull(ports, entry, head, "context") : null;
  return text === null ? [] : loadStored(text).deleted;
}

/** Reads one entry in the form that `readTrace` returns, with its branches. Throws `ExecutionNotFound`. */
export async function readTraceLink(
  ports: Ports,
  id: string,
  { seq, scope, full }: { seq: number; scope: string; full: boolean },
): Promise<{ execution: Execution; entry?: TraceEntry }> {
  const execution = await executionOf(ports, id);
  const at = { execution: id, scope, seq };
  const { entry } = isScope(scope) ? await ports.chain.read(at) : {};
  if (!entry) return { execution };
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const reader = new TraceReader(ports, version, full);
  const { told } = await reader.link(at, entry, full ? await before(ports, reader, at) : undefined);
  return { execution, entry: told };
}

async function before(ports: Ports, reader: TraceReader, at: EntryId): Promise<Before | undefined> {
  const place = placeBefore(at);
  if (!place) return undefined;
  const { entry } = await ports.chain.read(place);
  if (!entry) return before(ports, reader, place);
  const head = headOf(entry);
  if (head.digests.context) return { entry, context: await reader.contextOf(entry, head) };
  return { entry, context: (await before(ports, reader, place))?.context ?? null };
}

/** Returns the place of the entry before. A branch starts with entry 1, and the entry before that is the fork's. */
function placeBefore({ execution, scope, seq }: EntryId): EntryId | undefined {
  const branch = branchOf(scope);
  if (seq > (branch ? 1 : 0)) return { execution, scope, seq: seq - 1 };
  return branch ? { execution, scope: branch.parent, seq: branch.seq } : undefined;
}

/**
 * Returns whether the text is a valid scope: it names a branch, and each enclosing branch up to the main line, in
 * characters that the table's keys allow.
 */
export function isScope(scope: string): boolean {
  if (scope === "") return true;
  const branch = /^[!-~]{1,1000}$/.test(scope) && branchOf(scope);
  return branch !== false && branch !== null && isScope(branch.parent);
}

/** The maximum of open branches that `traceTag` reads. Reading more would cost as much as the trace itself. */
const maxBranches = 20;

/**
 * Returns a text that differs whenever `readTrace` would return another result. It is a hash of the record and the last
 * items of each open scope. It costs one read for each open scope, and none after the end of the execution. Undefined
 * if more than `maxBranches` branches are open.
 */
export async function traceTag(ports: Ports, execution: Execution): Promise<string | undefined> {
  const tips = execution.open ? await openTips(ports, execution.id, "", { left: maxBranches }) : [];
  return tips && sha256(JSON.stringify([execution, tips]));
}

/**
 * Returns the last items of a scope and, if it ends with a fork, of the branches of that fork. Only there can new
 * entries appear.
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
  /** The type of the node; null if the workflow is no longer stored. */
  node_type: string | null;
  /** Starts at 1. A higher number means that the attempts before it failed, or lost their sandbox. */
  attempt: number;
  /** ISO 8601. */
  since: string;
  /** The reason why the node waits; null while its code runs or a model writes it. */
  waits_for: WaitsFor | null;
  /** The failed attempts of the node so far, in the form that its entry will have. Absent if there are none. */
  attempts?: TraceStep[];
}

interface MapProgress extends Pick<EntryId, "scope" | "seq"> {
  node_id: string;
  items: number;
  /** The number of ended items, failed ones included. */
  done: number;
  failed: number;
}

/** A turn for which there is no entry yet. */
interface HeldTurn {
  at: EntryId;
  turn: Turn;
}

/** The maximum of nodes to list, because a map may run thousands at the same time. */
const maxListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/** Describes the nodes at work. `held` has every turn of the chain without an entry. */
async function atWorkOf(
  ports: Ports,
  version: WorkflowVersion | undefined,
  held: readonly HeldTurn[],
  entries: readonly TraceEntry[],
): Promise<AtWork> {
  const listed = held.toSorted((a, b) => (a.turn.since < b.turn.since ? -1 : 1)).slice(0, maxListed);
  const nodes = await Promise.all(listed.map((one) => nodeAtWork(ports, version, one)));
  return { count: held.length, nodes, maps: openMaps(entries) };
}

async function nodeAtWork(
  ports: Ports,
  version: WorkflowVersion | undefined,
  { at: { execution, ...place }, turn }: HeldTurn,
): Promise<NodeAtWork> {
  const { node: node_id, attempt, since } = turn;
  const at = { execution, ...place };
  const node = version && nodeIndex(version.workflow).get(node_id)?.node;
  const [waits_for, attempts] = await Promise.all([
    node ? waitOf(ports, node, { at, turn }) : null,
    attemptsOf(ports, node, { at, turn }),
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

/** Returns the progress of each map that has not ended: no entry follows its fork. */
function openMaps(entries: readonly TraceEntry[]): MapProgress[] {
  const last = entries.at(-1);
  if (!last?.branches) return [];
  const { node_id, scope, seq, branches } = last;
  const inside = branches.flatMap((branch) => openMaps(branch.entries));
  if (!branches.some(({ branch }) => isItem(branch))) return inside;
  const ends = branches.flatMap(({ entries: inItem }) => inItem.at(-1) ?? []).filter((end) => end.path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  return [{ node_id, scope, seq, items: branches.length, done: ends.length, failed }, ...inside];
}
