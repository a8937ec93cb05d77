import { type Member, nodeIndex, type RawJson } from "@nova/workflow";
import type { TalkPart } from "../attempt/agent/talk.ts";
import { type ChildTip, contentOrNull, type Head, headOf, unlessErased } from "../chain/entry.ts";
import { branchOf, votesMark, votesScope } from "../chain/ids.ts";
import { branchStart, contextBefore, failureOf, inputAfter } from "../chain/position.ts";
import { type Context, linkLabel, loadStored } from "../context/context.ts";
import { ballotIn } from "../kinds/waiting/votes.ts";
import type { EntryId, Link, StoredEntry } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { findOpenedFork, opensFork } from "../protocol/branches.ts";
import { executionOf } from "../protocol/record.ts";
import { type SecretKeys, secretKeysOf, shownContext } from "../secrets/redactor.ts";
import { type RunState, readContext, readState } from "./read-state.ts";
import { createEndedBranches, type EndedBranches, noEndedBranches, readBranches } from "./run-heads.ts";
import { timesOf } from "./times.ts";
import {
  ballotView,
  publicHead,
  replyView,
  ToldCode,
  type TraceBranch,
  type TraceEntry,
  type TraceStep,
  traceStep,
} from "./trace-entry.ts";

export interface Trace extends RunState {
  entries: TraceEntry[];
}

/**
 * Reads the state of an execution, and its chain of work with all branches. Erased contents are null. Throws
 * `ExecutionNotFound` if the execution does not exist.
 */
export async function readTrace(ports: Ports, id: string, { full = false } = {}): Promise<Trace> {
  const [state, { entries }] = await Promise.all([readState(ports, id), readEntries(ports, id, { full })]);
  return { ...state, entries };
}

/** A part of the entries of the main line, each with the branches that it opens. */
export interface EntryPage {
  entries: TraceEntry[];
  /** The number of the entry with which the next page starts; undefined for the last page. */
  next?: number;
}

interface PageOptions {
  full?: boolean;
  /** The number of the first entry of the page. */
  from?: number;
  limit?: number;
  /** Returns whether the page has space for the next entry. */
  fits?: (entry: TraceEntry) => boolean;
}

/**
 * Reads a page of the chain of work. Does not read branches of entries after the page. Erased contents are null. Throws
 * `ExecutionNotFound` if the execution does not exist.
 */
export async function readEntries(
  ports: Ports,
  id: string,
  { full = false, from = 0, limit = Number.POSITIVE_INFINITY, fits = () => true }: PageOptions = {},
): Promise<EntryPage> {
  const execution = await executionOf(ports, id);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const ended = full ? noEndedBranches : endedBranches.of(ports, execution);
  const reader = new TraceReader(ports, version, full, ended);
  const entries: TraceEntry[] = [];
  let previous: Before | undefined;
  for await (const { seq, entry } of ports.chain.links(id, "", from)) {
    if (!entry) continue;
    if (entries.length >= limit) return { entries, next: seq };
    const at = { execution: id, scope: "", seq };
    if (full && !previous) previous = await before(ports, reader, at);
    const { told, context } = await reader.link(at, entry, previous);
    if (!fits(told)) return { entries, next: seq };
    entries.push(told);
    previous = { entry, context };
  }
  return { entries };
}

const endedBranches = createEndedBranches<TraceEntry>({ hasContents: true });

/** An entry, and the context after this entry; null if the context was erased. */
interface Before {
  entry: StoredEntry;
  context: Context | null;
}

class TraceReader {
  readonly #ports: Ports;
  readonly #version: WorkflowVersion | undefined;
  readonly #full: boolean;
  readonly #codes: ToldCode;
  readonly #secrets: SecretKeys;
  readonly #ended: EndedBranches<TraceEntry>;

  /** `ended` remembers ended branches for later reads. */
  constructor(
    ports: Ports,
    version: WorkflowVersion | undefined,
    full: boolean,
    ended: EndedBranches<TraceEntry> = noEndedBranches,
  ) {
    this.#ended = ended;
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
   * Reads the entries of a scope. `fork` is the entry of the fork if the scope is a branch. `known` are the turns and
   * entries of the scope, if the caller has already read them.
   */
  async scope(execution: string, scope: string, fork?: Before, known?: readonly Link[]) {
    const entries: TraceEntry[] = [];
    let before = fork;
    for await (const { seq, entry } of known ?? this.#ports.chain.links(execution, scope)) {
      if (!entry) continue;
      const { told, context } = await this.link({ execution, scope, seq }, entry, before);
      before = { entry, context };
      entries.push(told);
    }
    return entries;
  }

  /**
   * Reads one entry in public form, with the branches that the entry opens. Also returns the context after the entry.
   */
  async link(at: EntryId, entry: StoredEntry, before: Before | undefined) {
    const head = headOf(entry);
    const context = head.digests.context ? await readContext(this.#ports, entry, head) : (before?.context ?? null);
    const input = this.#full && before ? await this.#inputOf(at, before) : null;
    const told = await this.#told(entry, head, context, input);
    const branches = opensFork(head) ? await this.#branches({ entry, context }) : await this.#votes(head, before);
    return { told: { ...told, ...(branches && { branches }) }, context };
  }

  /**
   * Reads the votes on an approval, as a branch of the approval's entry. In the chain, the votes come before that
   * entry.
   */
  async #votes(head: Head, before: Before | undefined): Promise<TraceBranch[] | undefined> {
    if (head.node_type !== "approval" || head.digests.branches === undefined) return undefined;
    const scope = votesScope(head, head.node_id);
    return [{ branch: votesMark, scope, entries: await this.scope(head.execution_id, scope, before) }];
  }

  async #branches(fork: Before): Promise<TraceBranch[] | undefined> {
    const open = this.#version && (await findOpenedFork(this.#ports, fork.entry));
    if (!open) return undefined;
    const { execution_id } = open.head;
    const read = (scope: string, known?: readonly Link[]) => this.scope(execution_id, scope, fork, known);
    return readBranches(this.#ports, open, read, this.#ended);
  }

  /**
   * Returns the context that a node received: the context before the node, with the members that an item or a failure
   * adds.
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
    const ballot = head.node_type === "vote" ? await ballotIn(ports, entry, head) : null;
    const talk = head.calls ? await contentOrNull(ports, entry, head, "talk") : null;
    const code = this.#full || this.#codes.isWritten(head) ? await this.#codes.of(entry, head) : null;
    return {
      ...publicHead(head),
      ai_metadata: await this.#codes.metadata(entry, head, { steps, code, error }),
      error_message: error,
      traceback: failure?.traceback ?? null,
      changes: { set: this.shown(ownSet), delete: await deletedBy(ports, entry, head) },
      hash: entry.hash,
      steps,
      times: timesOf(head, steps, this.#codes.isAsked(head)),
      ...(head.node_type === "vote" && { vote: ballot && ballotView(ballot) }),
      ...(head.calls && { reply: talk === null ? null : replyView(JSON.parse(talk) as TalkPart) }),
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
   * Describes a child execution, with its entries if the trace is full. The secret keys of the child are those of the
   * child's workflow, so the entries of the child need a separate reader.
   */
  async #childOf({ execution, workflow, version: number }: ChildTip): Promise<NonNullable<TraceEntry["child"]>> {
    const child = { execution_id: execution, workflow, version: number };
    if (!this.#full) return child;
    const version = await this.#ports.workflows.get(workflow, number);
    return { ...child, entries: await new TraceReader(this.#ports, version, true).scope(execution, "") };
  }
}

async function deletedBy(ports: Ports, entry: StoredEntry, head: Head): Promise<string[]> {
  const text = head.digests.context ? await contentOrNull(ports, entry, head, "context") : null;
  return text === null ? [] : loadStored(text).deleted;
}

/**
 * Reads one entry with its branches, in the form that `readTrace` returns. Throws `ExecutionNotFound` if the execution
 * does not exist.
 */
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
  if (head.digests.context) return { entry, context: await readContext(ports, entry, head) };
  return { entry, context: (await before(ports, reader, place))?.context ?? null };
}

/**
 * Returns the id of the preceding entry. The first entry of a branch has the number 1, and the entry of the fork
 * precedes it. The first vote and the approval's own entry have the same preceding entry.
 */
function placeBefore({ execution, scope, seq }: EntryId): EntryId | undefined {
  const branch = branchOf(scope);
  if (seq > (branch ? 1 : 0)) return { execution, scope, seq: seq - 1 };
  if (branch?.branch === votesMark) return placeBefore({ execution, scope: branch.parent, seq: branch.seq });
  return branch ? { execution, scope: branch.parent, seq: branch.seq } : undefined;
}

/**
 * Returns whether the text is a valid scope. A scope names a branch and all branches around it, in characters that the
 * keys of the table allow.
 */
export function isScope(scope: string): boolean {
  if (scope === "") return true;
  const branch = /^[!-~]{1,1000}$/.test(scope) && branchOf(scope);
  return branch !== false && branch !== null && isScope(branch.parent);
}
