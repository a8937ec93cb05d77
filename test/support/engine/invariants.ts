import {
  type EntryId,
  type Execution,
  type Head,
  type Member,
  type Ports,
  type StoredEntry,
  verifyExecution,
  type WorkflowVersion,
} from "@nova/engine";
import { type ApprovalNode, forksOf, type Node, nodeIndex, type Workflow } from "@nova/workflow";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { entryName } from "../../../packages/engine/src/chain/ids.ts";
import { linkLabel, loadStored } from "../../../packages/engine/src/context/context.ts";
import type { Forecast } from "../../../packages/engine/src/restart/restart.ts";
import { Source } from "../../../packages/engine/src/restart/source.ts";
import { judgeVotes } from "./judge-votes.ts";
import { judgeWritten } from "./judge-written.ts";
import type { MachineRun } from "./machine.ts";
import { claimName, type Run } from "./sandbox-state.ts";
import { atOnce } from "./scheduler.ts";
import type { World } from "./world.ts";

/**
 * Checks the invariants of the protocol. It checks some invariants while the engine runs, and the other invariants
 * after all work has ended.
 */
export class Invariants {
  readonly violations: string[] = [];
  /** All runs of code that have started, by name of their claim. */
  readonly #begun = new Map<string, Run>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.chain.onEntry = (at, entry) => this.#watchEntry(at.execution, entry);
    world.scheduler.onFailure = (process, error) => this.#watchError(process.name, error);
  }

  /** Adds a violation that another object has found. */
  readonly onViolation = (sentence: string): void => this.#violated(sentence);

  /** Checks the rules about the start of code. Call it at each start. */
  readonly onBegin = (run: Run): void => {
    const { claim, request } = run;
    const name = claimName(claim);
    const node = this.#nodeOf(request.node);
    if (this.#begun.has(name)) this.#violated(`code of ${name} began twice`);
    if (claim.attempt > 1) this.violations.push(...judgeAgain(run, node, this.#begun));
    if (this.#entries(request.execution).some(({ head }) => head.close))
      this.#violated(`code of ${name} began after the close`);
    for (const other of this.#world.sandboxes.running()) {
      if (other !== run && other.box === run.box)
        this.#violated(`code of ${name} begins in ${run.box.id}, where other code runs`);
      if (other !== run && other.request.execution === request.execution && areInLine(run, other))
        this.#violated(`code of ${claimName(other.claim)} still runs while code of ${name} begins`);
    }
    this.#begun.set(name, run);
  };

  #watchEntry(execution: string, entry: StoredEntry): void {
    const { close, child } = headOf(entry);
    const ended = close ? execution : child?.execution;
    if (ended === undefined) return;
    for (const { request, claim } of this.#world.sandboxes.running()) {
      if (this.#isWithin(request.execution, ended))
        this.#violated(`code of ${claimName(claim)} runs while the entry is written that says that it does not`);
    }
  }

  /** Returns whether `execution` is `outer` itself or one of its child executions, at any depth. */
  #isWithin(execution: string, outer: string): boolean {
    for (let id: string | undefined = execution; id !== undefined; id = this.#world.record(id)?.parent?.execution) {
      if (id === outer) return true;
    }
    return false;
  }

  #workflowOf({ workflow_id, workflow_version }: Pick<Head, "workflow_id" | "workflow_version">): Workflow {
    const isIt = (one: WorkflowVersion) => one.workflowId === workflow_id && one.version === workflow_version;
    return (this.#world.workflows.versions.find(isIt) as WorkflowVersion).workflow;
  }

  #nodeOf(id: string): Node | undefined {
    const indexes = this.#world.workflows.versions.map(({ workflow }) => nodeIndex(workflow));
    return indexes.find((index) => index.has(id))?.get(id)?.node;
  }

  /** Checks that a Lambda may throw this error of a process. `reason` has the form `Name: message`. */
  watchReason(process: string, reason: string): void {
    if (!expectedErrors.has(reason.split(":")[0] ?? "")) this.#violated(`${process} met ${reason}`);
  }

  #watchError(process: string, error: unknown): void {
    const name = error instanceof Error ? error.name : "";
    const isExpected = expectedErrors.has(name);
    if (!isExpected)
      this.#violated(`${process} threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Checks all executions. Call it after every process and sweeper has ended. */
  async judge(): Promise<void> {
    for (const record of this.#world.executions.records.values()) await this.#judgeExecution(record);
  }

  /**
   * Checks that the run reused exactly the outcomes that the forecast names. The run may have reused fewer outcomes if
   * it did not reach its end, or if a failed branch stopped other branches.
   */
  async judgeRestart(id: string, { reused: foreseen }: Forecast): Promise<void> {
    const { entries } = await Source.read(this.#world.ports(atOnce), id);
    const reused = Array.from(entries.values()).flatMap(({ name, head }) => (head.reused_from ? [name] : []));
    const stranger = reused.find((name) => !foreseen.includes(name));
    if (stranger) this.#violated(`${id} has taken over ${stranger}, which nobody foresaw`);
    const lost = foreseen.find((name) => !reused.includes(name));
    const isStopped = Array.from(entries.values()).some(
      ({ head }) => head.node_type === "join" && head.status === "failed",
    );
    if (lost && !isStopped && this.#world.record(id).status === "completed")
      this.#violated(`${id} has not taken over ${lost}, though that was foreseen`);
  }

  /**
   * Checks that the run reuses the outcomes of exactly those places (visits of nodes) that the document lists. A
   * decision whose result differs from the document need not reuse its outcome.
   */
  async judgeDocument(id: string, outcomes: readonly Member[], within = ""): Promise<void> {
    const { entries } = await Source.read(this.#world.ports(atOnce), id);
    for (const { name, head } of entries.values()) {
      const place = within + name;
      const written = outcomes.find(({ key }) => key === place);
      if (head.sealed && head.code !== null && this.#effectsOf(head) !== false)
        this.#violated(`${place} of ${id} has run, though it may have effects and nothing goes outside`);
      if (head.reused_from && !written) this.#violated(`${id} has taken over ${place}, which is in no document`);
      const isOver = head.decision_result !== null && !written?.json.includes(`"decision":"${head.decision_result}"`);
      if (written && head.status === "success" && !head.reused_from && !isOver)
        this.#violated(`${id} has not taken over ${place}, which is in the document`);
      if (head.child && !head.reused_from) await this.judgeDocument(head.child.execution, outcomes, `${place}/`);
    }
  }

  #effectsOf(head: Head): boolean | undefined {
    const node = nodeIndex(this.#workflowOf(head)).get(head.node_id)?.node;
    return node && "executor" in node ? node.effects : undefined;
  }

  /** Checks that a reused outcome equals its source and that no code ran for it. */
  #judgeReused(head: Head, entry: StoredEntry, where: string): void {
    const { reused_from: from } = head;
    if (!from) return;
    const claims = [...this.#begun.keys()].filter((name) => name.startsWith(`${entryName(placeOf(head))}.`));
    if (claims.length > 0 || head.code !== null) this.#violated(`${where} is taken over, and its code ran`);
    const source = this.#world.chain.at(from).entry;
    if (source?.hash !== from.hash) this.#violated(`${where} is taken over from another link than it says`);
    const [was, is] = [source && headOf(source), head];
    if (was?.decision_result !== is.decision_result || was?.status !== is.status)
      this.#violated(`${where} is taken over as another outcome`);
    const [set, before] = [setBy(entry, head), source && was ? setBy(source, was) : undefined];
    if (set !== before) this.#violated(`${where} is taken over with ${set} instead of ${before}`);
  }

  async #judgeExecution(record: Execution): Promise<void> {
    const { id } = record;
    const entries = this.#entries(id);
    const every = this.#world.chain.everyEntryOf(id).map((entry) => ({ head: headOf(entry), entry }));
    if (record.open) this.#violated(`${id} stays open`);
    const verification = await verifyExecution(this.#world.ports(atOnce), id);
    if (verification.state !== "anchored") this.#violated(`the chain is ${JSON.stringify(verification)}`);
    const close = entries.at(-1)?.head.close;
    if (!close) {
      this.#violated("the last entry is no close entry");
      return;
    }
    if (record.status !== close.status) this.#violated(`the record says ${record.status}, the chain ${close.status}`);
    const byNodes = every.filter(({ head }) => head.node_type !== "vote");
    for (const scope of Map.groupBy(byNodes, ({ head }) => head.scope).values()) this.#judgeScope(id, scope);
    const approvalOf = (node: string) => this.#nodeOf(node) as ApprovalNode | undefined;
    this.violations.push(...judgeVotes(every, approvalOf));
    this.violations.push(...judgeJoins(every, close.count));
    this.#judgeCompletion(
      id,
      close.status,
      entries.map(({ head }) => head),
    );
    this.#judgeContinuations(
      id,
      entries.map(({ head }) => head),
    );
    this.#judgeEvents(id, close.status);
    this.#judgeChild(record, every.length);
    for (const task of this.#world.tasks.all()) {
      if (task.execution === id && (task.status === "open" || task.status === "answered"))
        this.#violated(`task ${task.id} of a run that is over is ${task.status}`);
    }
    if (!this.#world.sandboxes.cleared.has(id)) this.#violated("its sandboxes were not killed");
    for (const box of this.#world.sandboxes.alive()) {
      const runs = Array.from(box.runs.values());
      if (runs.some(({ state }) => state === "running")) this.#violated(`code still runs in ${box.id}`);
    }
  }

  /**
   * Checks that the entry of the node that started a child execution names the child. A child without such an entry may
   * only have its start and its close.
   */
  #judgeChild({ id, parent }: Execution, entries: number): void {
    if (!parent) return;
    const entry = this.#world.chain.at(parent).entry;
    const child = entry && headOf(entry).child;
    if (child?.execution !== id && entries > 2) this.#violated(`${id} ran, and the node that ran it does not say so`);
  }

  #judgeScope(id: string, entries: { head: Head; entry: StoredEntry }[]): void {
    entries.forEach(({ head, entry }, i) => {
      this.#judgeEntry(head, entry, entries[i - 1]?.head);
    });
    const scope = entries[0]?.head.scope ?? "";
    const machines = this.#machinesOf(id);
    if (machines.length > 0)
      this.#judgePath(
        entries.map(({ head }) => head),
        machines.flatMap(({ visitedIn }) => visitedIn.get(scope) ?? []),
      );
  }

  /** Returns the first Step Functions execution of a run, and then those in which its loops continued, in order. */
  #machinesOf(id: string): MachineRun[] {
    const { machines } = this.#world;
    const further = Array.from(machines.keys()).filter((name) => name.startsWith(`${id}.`));
    const inOrder = further.toSorted((a, b) => Number(a.slice(id.length + 1)) - Number(b.slice(id.length + 1)));
    return [id, ...inOrder].flatMap((name) => machines.get(name) ?? []);
  }

  /**
   * Checks that Step Functions has only the continuations of a run that the chain names. Also checks that none of them
   * still runs after the end of the run.
   */
  #judgeContinuations(id: string, heads: Head[]): void {
    const said = heads.findLast(({ continuation }) => continuation)?.continuation?.number ?? 0;
    const further = this.#machinesOf(id).slice(1);
    if (further.length > said)
      this.#violated(`it goes on in ${further.length} further executions, the chain says ${said}`);
    if (further.some(({ status }) => status === "running")) this.#violated("a further execution goes on");
  }

  #judgeEntry(head: Head, entry: StoredEntry, before: Head | undefined): void {
    if (head.close) return;
    const where = `link ${head.seq}${head.scope} (${head.node_id})`;
    const expected = expectedWay(this.#workflowOf(head), head);
    if (head.path_taken !== expected) this.#violated(`${where} leads to ${head.path_taken}, not to ${expected}`);
    if (before && before.path_taken !== head.node_id) this.#violated(`${where} does not follow ${before.node_id}`);
    this.#judgeReused(head, entry, where);
    const node = this.#nodeOf(head.node_id);
    if (!head.reused_from && node && "executor" in node && node.executor.kind === "prompt") {
      const written = { head, entry, stored: this.#world.chain.at(placeOf(head)).steps, runs: this.#begun };
      this.violations.push(...judgeWritten(written).map((sentence) => `${where} ${sentence}`));
      return;
    }
    // An agent that has asked its model has a step for the reply. An agent whose compiled code ran instead of the model
    // is checked below, like any other node.
    if (node?.type === "agent" && head.code === null) {
      const isAsked = head.status === "failed" || head.reused_from !== undefined || head.steps.length > 0;
      if (!isAsked) this.#violated(`${where} has no step with the reply of its model`);
      return;
    }
    // Earlier attempts are steps, and the last attempt is the entry itself. A last attempt that failed may also be a
    // step.
    const isWhole = head.status === "failed" && head.steps.length === head.attempt;
    if (head.steps.length !== head.attempt - 1 && !isWhole)
      this.#violated(`${where} was attempt ${head.attempt}, but lists ${head.steps.length} steps`);
    if (head.status === "success" && head.code !== null && node?.type !== "agent")
      this.#judgeResult(head, entry, where);
  }

  /** Checks that the entry has the result of the attempt that it names. */
  #judgeResult(head: Head, entry: StoredEntry, where: string): void {
    const run = this.#begun.get(`${entryName(placeOf(head))}.0.${head.attempt}`);
    const { result } = run ?? {};
    const context = entry.contents.context;
    const text = context && "text" in context ? context.text : "";
    if (result?.status !== "success") this.#violated(`${where} says success, its code did not`);
    for (const { json } of result?.status === "success" ? result.set : []) {
      if (!text.includes(JSON.stringify(json))) this.#violated(`${where} has lost what its code set: ${json}`);
    }
  }

  #judgeCompletion(id: string, status: string, heads: Head[]): void {
    const machine = this.#world.machines.get(id);
    const last = heads.at(-2);
    if (machine?.status === "succeeded" && status !== "completed")
      this.#violated(`Step Functions succeeded, the run is ${status}`);
    if (status === "completed" && last?.node_type !== "end") this.#violated(`completed after ${last?.node_id}`);
  }

  /**
   * Checks that Step Functions visited the nodes in the order of the chain. Step Functions may have visited one more
   * node, whose delivery found that the run was closed. The chain may have further entries in a branch that Step
   * Functions has stopped, because the join adds the outcomes of a document to this branch.
   */
  #judgePath(heads: Head[], states: string[]): void {
    const isNode = ({ node_type }: Head) => node_type !== "close" && node_type !== "join";
    const path = heads.filter(isNode);
    const taken = path.map(({ node_id }) => node_id);
    // A state after a pause state belongs to the same visit of a long node. Such a state only checks whether the code
    // has ended.
    const visited = states.filter((name, i) => !name.includes(".") && states[i - 1] !== `${name}.pause`);
    const isOfDocument = ({ scope, visits, sandbox_id }: Head) => scope !== "" && visits && sandbox_id === null;
    const isPath = path.every(
      (head, i) => head.node_id === visited[i] || (visited[i] === undefined && (i === 0 || isOfDocument(head))),
    );
    if (!isPath || visited.length > taken.length + 1)
      this.#violated(`Step Functions went ${visited.join(" > ")}, the chain ${taken.join(" > ")}`);
  }

  #judgeEvents(id: string, status: string): void {
    const events = this.#world.events.published.filter(
      ({ type, detail }) => type !== "execution.waiting" && detail.execution_id === id,
    );
    if (events.length === 0) this.#violated("no event tells of the close");
    if (events.some(({ detail }) => detail.status !== status)) this.#violated(`an event does not say ${status}`);
  }

  #entries(execution: string): { head: Head; entry: StoredEntry }[] {
    return this.#world.chain.entriesOf(execution).map((entry) => ({ head: headOf(entry), entry }));
  }

  #violated(sentence: string): void {
    this.violations.push(sentence);
  }
}

/** Returns the places of an execution from which it can restart. */
export async function placesIn(ports: Ports, id: string): Promise<string[]> {
  const { entries } = await Source.read(ports, id);
  const marks = ["start", "end", "join", "close"];
  return Array.from(entries.values()).flatMap(({ name, head }) => (marks.includes(head.node_type) ? [] : [name]));
}

/**
 * Returns the values that an entry has set, as JSON text from its stored context. Undefined if some values of the
 * context are stored in pages, which are blobs outside the entry.
 */
function setBy({ contents: { context } }: StoredEntry, head: Head): string | undefined {
  const stored = context && "text" in context ? loadStored(context.text) : undefined;
  const own = stored?.pages.length === 0 && stored.inline.filter(([, by]) => by === linkLabel(head));
  return own ? JSON.stringify(own.map(([key, , json]) => [key, json]).sort()) : undefined;
}

function placeOf({ execution_id: execution, scope, seq }: Head): EntryId {
  return { execution, scope, seq };
}

/**
 * Returns whether two pieces of code may not run at the same time: their scopes are equal, or one encloses the other.
 */
function areInLine({ claim: one }: Run, { claim: other }: Run): boolean {
  const [a, b] = [scopeIn(one.link), scopeIn(other.link)];
  return a === b || a.startsWith(`${b}+`) || b.startsWith(`${a}+`);
}

/** Returns the scope that is part of a name built by `entryName`. */
function scopeIn(link: string): string {
  return link.replace(/^[^+.]*/, "").replace(/\.\d+$/, "");
}

/**
 * Names of the errors that a Lambda may throw in a simulation: failures of nodes and runs, and outages of services.
 * `ChainBroken` is not among them, because this error means a bug.
 */
const expectedErrors = new Set([
  "AnswerMisfit",
  "AnswerRefused",
  "ApproverRefused",
  "NodeFailed",
  "NodeTimeout",
  "NodeInterrupted",
  "BudgetExceeded",
  "CallRepeated",
  "StepsUsedUp",
  "ModelUnavailable",
  "ExecutionClosed",
  "SandboxUnavailable",
  "NodeUnfinished",
  "NodeRetry",
  "StoreUnavailable",
  "ServiceUnavailable",
]);

/**
 * Returns the next node that an entry must name. Derives that node from the definition, independently of the engine.
 */
function expectedWay(workflow: Workflow, head: Head): string | null {
  return head.node_type === "join" ? wayOfJoin(workflow, head) : wayOfNode(workflow, head);
}

function wayOfNode(workflow: Workflow, head: Head): string | null {
  const { node, edges = [] } = nodeIndex(workflow).get(head.node_id) ?? {};
  if (head.status === "failed") return visitedNode(workflow, node && "onError" in node ? node.onError : undefined);
  if (node?.type === "map" || head.calls) return `${head.node_id}.join`;
  if (head.decision_result !== null) {
    return visitedNode(workflow, edges.find(({ condition }) => String(condition) === head.decision_result)?.to);
  }
  return edges.length > 1 ? `${head.node_id}.join` : visitedNode(workflow, edges[0]?.to);
}

function wayOfJoin(workflow: Workflow, head: Head): string | null {
  const id = head.node_id.slice(0, -".join".length);
  const { node, edges = [] } = nodeIndex(workflow).get(id) ?? {};
  if (head.status === "failed") return visitedNode(workflow, node && "body" in node ? node.onError : undefined);
  if (node?.type === "agent") return id;
  if (node?.type !== "map") return visitedNode(workflow, forksOf(workflow).get(id)?.next ?? undefined);
  return edges.length > 1 ? `${head.node_id}.join` : visitedNode(workflow, edges[0]?.to);
}

/** Returns the id of a node. Returns null for the `end` of a map's body, which a run does not visit. */
function visitedNode(workflow: Workflow, id: string | undefined): string | null {
  const found = id === undefined ? undefined : nodeIndex(workflow).get(id);
  return !found || (found.node.type === "end" && found.body !== null) ? null : found.node.id;
}

/** Checks the second or a later start of code for an entry. Returns one sentence for each broken rule. */
function judgeAgain({ claim, request }: Run, node: Node | undefined, begun: ReadonlyMap<string, Run>): string[] {
  const name = claimName(claim);
  if (!node || !("executor" in node)) return [`code of ${name} began again, and belongs to no node`];
  const { effects, retry } = node;
  const most = Math.max(retry?.attempts ?? 1, effects === false ? 3 : 1);
  const before = begun.get(claimName({ ...claim, attempt: claim.attempt - 1 }));
  const isOther =
    before && before.request.environment.NOVA_IDEMPOTENCY_KEY !== request.environment.NOVA_IDEMPOTENCY_KEY;
  const failure = before?.result?.status === "error" ? before.result : undefined;
  const isUnwanted =
    failure && retry?.on && !retry.on.includes(failure.class) && !failure.types?.includes(retry.on[0] ?? "");
  return [
    ...(claim.attempt > most ? [`code of ${name} began again, and has ${most} attempts at most`] : []),
    ...(isOther ? [`code of ${name} has another idempotency key than the attempt before`] : []),
    ...(isUnwanted ? [`code of ${name} began again after a failure that its retry does not name`] : []),
  ];
}

interface Tip {
  scope: string;
  seq: number;
  hash: string;
}

/**
 * Checks that every branch is listed by a join, and that each join lists the last entries of exactly the branches of
 * its fork.
 */
function judgeJoins(every: readonly { head: Head; entry: StoredEntry }[], count: number): string[] {
  const last = new Map(every.map(({ head, entry }) => [head.scope, { head, entry }]));
  const joins = every.filter(({ head }) => head.node_type === "join" || head.node_type === "approval");
  const listed = joins.flatMap(({ head, entry }) => tipsIn(entry).map((tip) => ({ ...tip, join: head })));
  const unlisted = Array.from(last.keys()).filter(
    (scope) => scope !== "" && !listed.some((tip) => tip.scope === scope),
  );
  const wrong = listed.filter(({ scope, seq, hash, join }) => {
    const tip = last.get(scope);
    const isVotes = scope === `${join.scope}/${join.node_id}@${join.seq}.(votes)`;
    const isOwn =
      isVotes || scope.startsWith(`${join.scope}/${join.node_id.slice(0, -".join".length)}@${join.seq - 1}.`);
    return !isOwn || tip?.head.seq !== seq || tip.entry.hash !== hash;
  });
  return [
    ...unlisted.map((scope) => `no join lists the entries of ${scope}`),
    ...wrong.map(({ scope, join }) => `the join at link ${join.seq}${join.scope} lists ${scope} wrongly`),
    ...(new Set(listed.map(({ scope }) => scope)).size < listed.length ? ["a branch is listed twice"] : []),
    ...(count === every.length ? [] : [`the close counts ${count} entries, there are ${every.length}`]),
  ];
}

function tipsIn({ contents }: StoredEntry): Tip[] {
  const { branches } = contents;
  return branches && "text" in branches ? (JSON.parse(branches.text) as Tip[]) : [];
}
