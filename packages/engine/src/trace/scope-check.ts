import { isDeepStrictEqual } from "node:util";
import { codeInDefinition, type Member, membersOf, nodeIndex, runHash, workflowHash } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type BranchTip, type ChildTip, type Head, headOf, type ReusedEntry } from "../chain/entry.ts";
import { branchOf, votesMark, votesScope } from "../chain/ids.ts";
import { OutcomesRefused, parseOutcome, type WrittenOutcome } from "../chain/outcomes.ts";
import { branchStarts, innerStart, readChanges } from "../chain/position.ts";
import { offloadMembers } from "../context/references.ts";
import { NovaError, recoverFrom } from "../errors.ts";
import type { EntryId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { findOpenedFork, opensFork } from "../protocol/branches.ts";
import { sha256 } from "../sha256.ts";
import {
  ContentCheck,
  type Erasures,
  type LinkPlace,
  type LinkProblem,
  placeOf,
  unreadableProblem,
} from "./content-check.ts";
import { type Checked, hashMisfit, misfitOf, signatureMisfit } from "./misfit.ts";

export type Problem = LinkPlace & LinkProblem;
/**
 * The last sound entry of a scope, or the first problem. `first` is the head of entry 0, which only a main line has.
 */
export type ScopeResult = { tip: Checked | undefined; first?: Head } | { problem: Problem };

/**
 * Checks the entries of an execution scope by scope. It checks the branches of a fork after the fork and before their
 * join. While branches of the main line run, it does not check them: there may be 10,000 branches, and only their join
 * says how they end.
 */
export class ScopeCheck {
  readonly contents: ContentCheck;
  links = 0;
  readonly gone = new Set<string>();
  readonly #ports: Ports;
  readonly #code: CodeCheck;
  readonly #walked: string;
  readonly #erasures: Erasures;

  /** `walked` is the execution under check. */
  constructor(ports: Ports, walked: string, erasures: Erasures) {
    this.#ports = ports;
    this.#walked = walked;
    this.#erasures = erasures;
    this.contents = new ContentCheck(ports, walked, erasures);
    this.#code = new CodeCheck(ports);
  }

  async walk(execution: string, scope: string, start?: Checked): Promise<ScopeResult> {
    const place = { execution, scope, seq: start ? 1 : 0 };
    try {
      return await this.#walkLinks(place, start);
    } catch (error) {
      return this.#problem(place, unreadableProblem(error));
    }
  }

  /**
   * Checks the entries of a scope. It updates `place` to the entry under check, so that the caller can name this entry
   * if a read throws.
   */
  async #walkLinks(place: EntryId, start: Checked | undefined): Promise<ScopeResult> {
    const { execution, scope } = place;
    let last = start;
    let first: Head | undefined;
    for await (const link of this.#ports.chain.links(execution, scope)) {
      if (!link.entry) continue;
      place.seq = link.seq;
      const hash = hashMisfit(link.entry);
      if (hash !== undefined) return this.#problem(place, { message: hash });
      const found = { head: headOf(link.entry), entry: link.entry };
      const branches = last && last !== start ? await this.#walkBranches(last) : undefined;
      if (branches && "problem" in branches) return branches;
      const votes = last && hasVotes(found.head) && (await this.#walkVotes(found.head, link.seq, last, place));
      if (votes && "problem" in votes) return votes;
      const counted = votes ? votesMisfit(found.head, last, votes.tip) : joinMisfit(found.head, last, branches?.tips);
      const misfit = misfitOf(link, found.head, place, last) ?? counted;
      const problem = misfit === undefined ? await this.#namedProblem(found.head, found.entry) : { message: misfit };
      if (problem) return this.#problem(place, problem);
      this.links++;
      last = found;
      first ??= found.head;
      const { child } = found.head;
      const childProblem = child && (await this.#childProblem(found.head, child));
      if (childProblem) return { problem: childProblem };
      place.seq = link.seq + 1;
    }
    const cut = scope !== "" && last && last !== start ? await this.#walkBranches(last) : undefined;
    if (cut && "problem" in cut) return cut;
    const open = last && (await this.#walkOpenVotes(last, place));
    return open && "problem" in open ? open : { tip: last, ...(first && { first }) };
  }

  /**
   * Checks the votes on an approval. The votes are in the inner scope of the approval's own entry, and come before that
   * entry.
   */
  async #walkVotes({ node_id }: Pick<Head, "node_id">, seq: number, last: Checked, { execution, scope }: EntryId) {
    const inner = votesScope({ scope, seq }, node_id);
    const walk = await this.walk(execution, inner, { head: innerStart(last.head, inner), entry: last.entry });
    if ("problem" in walk) return walk;
    return { tip: walk.tip && walk.tip.head.seq > 0 ? endOf(walk.tip) : undefined };
  }

  /** Checks the votes on an approval that still waits. Such an approval has no entry yet that lists the votes. */
  async #walkOpenVotes(last: Checked, place: EntryId) {
    const { path_taken: node, workflow_id, workflow_version } = last.head;
    if (node === null || branchOf(place.scope)?.branch === votesMark) return undefined;
    const version = await this.#ports.workflows.get(workflow_id, workflow_version);
    const type = version && nodeIndex(version.workflow).get(node)?.node.type;
    if (!type || !hasVotes({ node_type: type })) return undefined;
    return this.#walkVotes({ node_id: node }, last.head.seq + 1, last, place);
  }

  #problem({ execution, scope, seq }: EntryId, problem: LinkProblem): { problem: Problem } {
    return { problem: { ...placeOf({ execution_id: execution, scope, seq }, this.#walked), ...problem } };
  }

  /** Checks the branches after an entry. Returns undefined if the entry opens no fork. */
  async #walkBranches({ head, entry }: Checked): Promise<{ tips: BranchEnd[] } | { problem: Problem } | undefined> {
    if (!opensFork(head)) return undefined;
    const open = await findOpenedFork(this.#ports, entry).catch(recoverFrom(NovaError, () => undefined));
    const message = "it opens a fork that its workflow does not have";
    if (!open) return { problem: { ...placeOf(head, this.#walked), message } };
    const startOf = await branchStarts(this.#ports, entry);
    const walks = await atOnce(open.branches, ({ scope }) =>
      this.walk(head.execution_id, scope, { head: startOf(scope).before, entry }),
    );
    const broken = walks.find((walk) => "problem" in walk);
    if (broken) return broken;
    const last = walks.flatMap((walk) => ("tip" in walk && walk.tip && walk.tip.head.seq > 0 ? [walk.tip] : []));
    return { tips: last.map(endOf) };
  }

  /**
   * Checks three facts about a child. Its chain must be whole and signed, the entry of the node must name the last
   * entry of this chain, and the node must have started the child.
   */
  async #childProblem(head: Head, child: ChildTip): Promise<Problem | undefined> {
    const walk = await this.walk(child.execution, "");
    if ("problem" in walk) return walk.problem;
    const { tip, first } = walk;
    // If the entry reuses the outcome of another run that was deleted, this child was deleted together with that run.
    if (!first && head.reused_from && !(await this.#ports.chain.read(head.reused_from)).entry) return undefined;
    const { execution, scope, seq } = head.reused_from ?? { ...head, execution: head.execution_id };
    const { parent } = first ?? {};
    const isCalled = parent?.execution === execution && parent.scope === scope && parent.seq === seq;
    const fits = isCalled && first?.client === head.client && first.root === head.root;
    const isNamed = first?.workflow_id === child.workflow && first.workflow_version === child.version;
    if (!fits || !isNamed || !tip?.head.close || tip.entry.hash !== child.tip) {
      const message = `the execution that it ran, ${child.execution}, has another end, or was cut off: its last link is not the one named here`;
      return { ...placeOf(head, this.#walked), message };
    }
    const message = await signatureMisfit(this.#ports, tip);
    return message === undefined ? undefined : { ...placeOf(tip.head, this.#walked), message };
  }

  async #reuseMisfit(head: Head, { hash, ...at }: ReusedEntry): Promise<string | undefined> {
    const { entry } = await this.#ports.chain.read(at);
    if (!entry) return void this.gone.add(at.execution);
    const own = headOf(entry);
    if (!Object.keys(own.digests).every((name) => Object.hasOwn(entry.contents, name))) {
      if (!(await this.#erasures.has(at.execution)))
        return `link ${at.seq}${at.scope} of ${at.execution}, whose outcome it reuses, lacks a content without a signed note of its erasure`;
      this.gone.add(at.execution);
    }
    const said = ["node_id", "node_type", "status", "decision_result", "error_class"] as const;
    const isSame = said.every((field) => own[field] === head[field]);
    return isSame && entry.hash === hash && sha256(entry.head) === hash
      ? undefined
      : `the outcome that it takes over, link ${at.seq}${at.scope} of ${at.execution}, is another: one of the two was changed`;
  }

  /**
   * Returns the first fault in the steps, contents, blobs and code that an entry names by their hashes. Call this
   * function after the check of the entry itself.
   */
  async #namedProblem(head: Head, entry: StoredEntry): Promise<LinkProblem | undefined> {
    const bad = head.steps.length > 0 ? await this.#stepProblem(head) : undefined;
    if (bad) return bad;
    const reuse = head.reused_from && (await this.#reuseMisfit(head, head.reused_from));
    const message = reuse ?? (await this.#code.problemOf(head));
    if (message !== undefined) return { message };
    return (await this.contents.problemOf(head, entry)) ?? this.#planProblem(head, entry);
  }

  /**
   * Checks the document of a run with given outcomes. If the context of entry 0 was erased, the document was erased,
   * too.
   */
  async #planProblem(head: Head, { contents }: StoredEntry): Promise<LinkProblem | undefined> {
    if (!head.plan || !contents.context) return undefined;
    const ref = { sha256: head.plan.outcomes, type: "json" as const };
    const document = await this.contents.blobs.text(head, { place: "the document of places", ref });
    if ("bad" in document) return document.bad;
    for (const { key: place, json } of document.text === null ? [] : membersOf(document.text)) {
      const message = await this.#outcomeProblem(place, json).catch(recoverFrom(OutcomesRefused, (one) => one.message));
      if (message !== undefined) return { message };
    }
    return undefined;
  }

  async #outcomeProblem(place: string, json: string): Promise<string | undefined> {
    const outcome = parseOutcome(place, json);
    // An outcome that only names an entry needs no check here. `#reuseMisfit` compares each entry that reuses another entry.
    const from = "entry" in outcome ? undefined : outcome.from;
    if (!from || !("execution" in from) || (await this.#isFrom(outcome as WrittenOutcome, from))) return undefined;
    const { seq, scope, execution } = from;
    return `the outcome of "${place}" is another than that of link ${seq}${scope} of ${execution}, which it names`;
  }

  /**
   * Returns whether a written outcome equals the outcome of the entry `from`. Also returns true if that entry no longer
   * exists.
   */
  async #isFrom(outcome: WrittenOutcome, from: ReusedEntry): Promise<boolean> {
    const { entry } = await this.#ports.chain.read(from);
    const isThere = entry && "context" in entry.contents;
    if (!isThere) this.gone.add(from.execution);
    if (!entry) return true;
    if (!isThere && !(await this.#erasures.has(from.execution))) return false;
    const { status, decision_result, error_class } = headOf(entry);
    const isSame =
      entry.hash === from.hash &&
      sha256(entry.head) === from.hash &&
      (status === "failed") === (outcome.error !== undefined) &&
      decision_result === outcome.decision &&
      error_class === outcome.error?.class;
    return isSame && (!isThere || (await hasChanges(this.#ports, outcome, entry)));
  }

  async #stepProblem(head: Head): Promise<LinkProblem | undefined> {
    const { steps, execution_id, scope, seq } = head;
    const stored = await this.#ports.chain.steps({ execution: execution_id, scope, seq });
    const changed = stored.find(({ text, hash }) => text !== "" && sha256(text) !== hash);
    if (changed) return { message: `step ${changed.step} was changed` };
    const there = Map.groupBy(stored, (step) => step.hash);
    for (const hash of steps) {
      const [step, other] = there.get(hash) ?? [];
      if (!step) return { message: "a step that it lists was changed or dropped" };
      if (other) return { message: `step ${step.step} is there twice, the second time as step ${other.step}` };
      const bad = await this.contents.stepProblem(head, step);
      if (bad) return bad;
    }
    return undefined;
  }
}

/**
 * The last entry of a branch, in the form in which a join lists it, and the counts of the branch that the join adds up.
 */
interface BranchEnd extends BranchTip {
  entries: number;
  nodes: number;
}

function endOf({ head, entry }: Checked): BranchEnd {
  const tip: BranchTip = { scope: head.scope, seq: head.seq, hash: entry.hash };
  return { ...tip, entries: head.seq + (head.inner ?? 0), nodes: head.nodes };
}

/**
 * Returns the fault of an entry in its counts and its list of branches; undefined if it has none. `tips` are the ends
 * of the fork's branches.
 */
function joinMisfit(head: Head, last: Checked | undefined, tips: BranchEnd[] | undefined): string | undefined {
  const before = last?.head.inner ?? 0;
  if (!tips || head.node_type !== "join") {
    if (tips && tips.length > 0) return "the branches before it have entries, which no join lists";
    return (head.inner ?? 0) === before ? undefined : "it counts other entries in branches than the link before";
  }
  const inner = before + tips.reduce((sum, tip) => sum + tip.entries, 0);
  const nodes = (last?.head.nodes ?? 0) + tips.reduce((sum, tip) => sum + tip.nodes, 0);
  if ((head.inner ?? 0) !== inner || head.nodes !== nodes) return "it counts other entries than its branches have";
  // The list itself may have been erased, so this function compares the digest of the list in the entry.
  const found = tips.map(({ scope, seq, hash }): BranchTip => ({ scope, seq, hash }));
  return head.digests.branches === sha256(JSON.stringify(found))
    ? undefined
    : "the branches that it lists end otherwise: one was changed, cut off or added to";
}

/** Returns whether people may vote before the entry of this node is written. */
function hasVotes({ node_type }: Pick<Head, "node_type">): boolean {
  return node_type === "approval";
}

/**
 * Returns the fault in the count and the list of votes of an approval's entry; undefined if there is none. `tip` is the
 * last vote.
 */
function votesMisfit(head: Head, last: Checked | undefined, tip: BranchEnd | undefined): string | undefined {
  if ((head.inner ?? 0) !== (last?.head.inner ?? 0) + (tip?.entries ?? 0))
    return "it counts other votes than there are";
  const found = tip && [{ scope: tip.scope, seq: tip.seq, hash: tip.hash } satisfies BranchTip];
  return head.digests.branches === (found && sha256(JSON.stringify(found)))
    ? undefined
    : "the votes that it lists end otherwise: one was changed, cut off or added";
}

/**
 * Checks the stored workflow version of an entry. It must still have the definition that entry 0 names, and the code
 * that ran.
 */
export class CodeCheck {
  readonly #workflows: Ports["workflows"];
  readonly #versions = new Map<string, Promise<WorkflowVersion | "changed" | "missing">>();
  /** SHA-256 of the code in a version, computed once for all entries that ran it. */
  readonly #hashes = new Map<string, string>();

  constructor({ workflows }: Pick<Ports, "workflows">) {
    this.#workflows = workflows;
  }

  async problemOf(head: Head): Promise<string | undefined> {
    if (head.code === null && head.definition === undefined) return undefined;
    const named = `version ${head.workflow_version} of workflow "${head.workflow_id}"`;
    const version = await this.#version(head);
    if (typeof version === "string") return `the definition that it ran, ${named}, ${sentences[version]}`;
    if (head.definition !== undefined && runHash(version.workflow) !== head.definition)
      return `the definition that it ran is not the one that ${named} holds: one of the two was changed`;
    if (head.code === null) return undefined;
    const node = nodeIndex(version.workflow).get(head.node_id)?.node;
    const executor = node && "executor" in node ? node.executor : undefined;
    if (executor?.kind === "prompt") return writtenProblem(head, version);
    const code = codeInDefinition(executor)?.code;
    return code !== undefined && this.#hashOf(code) === head.code
      ? undefined
      : `the code that it ran is not the code that ${named} holds: one of the two was changed`;
  }

  #hashOf(code: string): string {
    const hash = this.#hashes.get(code) ?? sha256(code);
    this.#hashes.set(code, hash);
    return hash;
  }

  #version({ workflow_id, workflow_version }: Head): Promise<WorkflowVersion | "changed" | "missing"> {
    const key = `${workflow_id} ${workflow_version}`;
    const version = this.#versions.get(key) ?? this.#read(workflow_id, workflow_version);
    this.#versions.set(key, version);
    return version;
  }

  async #read(workflowId: string, number: number): Promise<WorkflowVersion | "changed" | "missing"> {
    try {
      const version = await this.#workflows.stored(workflowId, number);
      if (!version) return "missing";
      return workflowHash(version.workflow) === version.hash ? version : "changed";
    } catch (error) {
      if (error instanceof SyntaxError) return "changed";
      if (error instanceof Error && error.name === "DefinitionMissing") return "missing";
      throw error;
    }
  }
}

/** Checks the hash of code that a model wrote. The code itself is in the entry, or in the lock of the workflow. */
function writtenProblem(head: Head, { workflow }: WorkflowVersion): string | undefined {
  const locked = workflow.lock?.[head.node_id];
  const isKnown = (hash: string | undefined, inEntry: string | undefined, text: string | undefined) =>
    hash === inEntry || (text !== undefined && sha256(text) === hash);
  if (!isKnown(head.code ?? undefined, head.digests.code, locked?.code)) return unknown("code");
  if (!isKnown(head.analysis, head.digests.analysis_code, locked?.analysis)) return unknown("analysis code");
  return undefined;
}

function unknown(what: string): string {
  return `the ${what} that it ran is neither in it nor locked beside its workflow: one of the two was changed`;
}

const sentences = { missing: "is missing", changed: "was changed: it has another hash than when it was published" };

async function hasChanges(ports: Ports, { set, delete: deleted }: WrittenOutcome, entry: StoredEntry) {
  const changes = await readChanges(entry, ports.blobs);
  // The entry has references in place of large values, so this code brings the written values into the same form before
  // it compares them.
  const stored = await offloadMembers(set, async () => undefined);
  const text = (members: readonly Member[]) => members.map(({ key, json }) => `${JSON.stringify(key)}:${json}`).sort();
  const own = [text(stored), deleted.toSorted()];
  return isDeepStrictEqual(own, [text(changes.set), changes.delete.toSorted()]);
}
