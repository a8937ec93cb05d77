import { contentText } from "../chain/contents.ts";
import { type BranchTip, type Head, headOf } from "../chain/head.ts";
import { branchStart } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import { atOnce } from "../fork/at-once.ts";
import { forkBehind, opensFork } from "../fork/branches.ts";
import { sha256 } from "../json/hash.ts";
import type { Link, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { CodeCheck } from "./code-check.ts";
import { ContentCheck, type LinkPlace, type LinkProblem, placeOf } from "./content-check.ts";

/** The last link of a scope that holds so far; in front of a branch what its link 0 would say, with the fork's hash. */
interface Checked {
  head: Head;
  entry: StoredEntry;
}

export type Problem = LinkPlace & LinkProblem;
export type ScopeResult = { tip: Checked | undefined } | { problem: Problem };

/** Walks the scopes of one execution, each fork's branches between the fork's link and its join. */
export class ScopeCheck {
  readonly contents: ContentCheck;
  /** Links that hold, in all scopes. */
  links = 0;
  readonly #ports: Ports;
  readonly #code: CodeCheck;
  readonly #walked: string;

  /** `walked`: the execution that the check is about. */
  constructor(ports: Ports, walked: string) {
    this.#ports = ports;
    this.#walked = walked;
    this.contents = new ContentCheck(ports, walked);
    this.#code = new CodeCheck(ports);
  }

  async walk(execution: string, scope: string, start?: Checked): Promise<ScopeResult> {
    let last = start;
    let tips: BranchEnd[] | undefined;
    for await (const link of this.#ports.chain.links(execution, scope)) {
      if (!link.entry) continue;
      const head = headOf(link.entry);
      const misfit = misfitOf(link, link.entry, head, last) ?? (await this.#joinMisfit(link.entry, head, last, tips));
      const problem = misfit === undefined ? await this.#namedProblem(head, link.entry) : { message: misfit };
      if (problem) {
        const place = placeOf({ execution_id: execution, scope, seq: link.seq }, this.#walked);
        return { problem: { ...place, ...problem } };
      }
      this.links++;
      last = { head, entry: link.entry };
      const child = await this.#childProblem(head);
      if (child) return { problem: child };
      const branches = await this.#walkBranches(last);
      if (branches && "problem" in branches) return branches;
      tips = branches?.tips;
    }
    return { tip: last };
  }

  /** The tips of the branches that have begun behind a fork's link. */
  async #walkBranches({ head, entry }: Checked): Promise<{ tips: BranchEnd[] } | { problem: Problem } | undefined> {
    if (!opensFork(head)) return undefined;
    const open = await forkBehind(this.#ports, entry).catch((error: unknown) => {
      if (error instanceof NovaError) return undefined;
      throw error;
    });
    if (!open)
      return {
        problem: { ...placeOf(head, this.#walked), message: "it opens a fork that its workflow does not have" },
      };
    const walks = await atOnce(open.branches, async ({ scope }) => {
      const { before } = await branchStart(this.#ports, entry, scope);
      return this.walk(head.execution_id, scope, { head: before, entry });
    });
    const broken = walks.find((walk) => "problem" in walk);
    if (broken) return broken;
    const last = walks.flatMap((walk) => ("tip" in walk && walk.tip && walk.tip.head.seq > 0 ? [walk.tip] : []));
    return { tips: last.map(endOf) };
  }

  /** The chain of the execution that a node ran: whole, closed as the node's entry says, and called by this node. */
  async #childProblem({ child, ...head }: Head): Promise<Problem | undefined> {
    if (!child) return undefined;
    const walk = await this.walk(child.execution, "");
    if ("problem" in walk) return walk.problem;
    const first = (await this.#ports.chain.read({ execution: child.execution, scope: "", seq: 0 })).entry;
    const parent = first && headOf(first).parent;
    const isOurs = parent?.execution === head.execution_id && parent.scope === head.scope && parent.seq === head.seq;
    if (walk.tip?.head.close && walk.tip.entry.hash === child.tip && isOurs) return undefined;
    const message = `the execution that it ran, ${child.execution}, has another end, or was cut off: its last link is not the one named here`;
    return { ...placeOf(head, this.#walked), message };
  }

  /** What is wrong with a link as the one behind a fork. */
  async #joinMisfit(
    { contents }: StoredEntry,
    head: Head,
    last: Checked | undefined,
    tips: BranchEnd[] | undefined,
  ): Promise<string | undefined> {
    const before = last?.head.inner ?? 0;
    if (!tips || head.node_type !== "join") {
      if (tips && tips.length > 0) return "the branches before it have entries, which no join lists";
      return (head.inner ?? 0) === before ? undefined : "it counts other entries in branches than the link before";
    }
    const inner = before + tips.reduce((sum, tip) => sum + tip.entries, 0);
    const nodes = (last?.head.nodes ?? 0) + tips.reduce((sum, tip) => sum + tip.nodes, 0);
    if ((head.inner ?? 0) !== inner || head.nodes !== nodes) return "it counts other entries than its branches have";
    if (!contents.branches) return undefined;
    const found = tips.map(({ scope, seq, hash }): BranchTip => ({ scope, seq, hash }));
    return (await contentText(contents.branches, head, this.#ports.blobs)) === JSON.stringify(found)
      ? undefined
      : "the branches that it lists end otherwise: one was changed, cut off or added to";
  }

  /** What is wrong with what a sound head names by hash: steps, contents, blobs, code. */
  async #namedProblem(head: Head, entry: StoredEntry): Promise<LinkProblem | undefined> {
    const bad = await this.#stepProblem(head);
    if (bad) return bad;
    const message = await this.#code.problemOf(head);
    return message === undefined ? this.contents.problemOf(head, entry) : { message };
  }

  async #stepProblem(head: Head): Promise<LinkProblem | undefined> {
    const { steps, execution_id, scope, seq } = head;
    if (steps.length === 0) return undefined;
    const stored = await this.#ports.chain.steps({ execution: execution_id, scope, seq });
    const changed = stored.find(({ text, hash }) => text !== "" && sha256(text) !== hash);
    if (changed) return { message: `step ${changed.step} was changed` };
    const there = new Map(stored.map((step) => [step.hash, step]));
    for (const hash of steps) {
      const step = there.get(hash);
      if (!step) return { message: "a step that it lists was changed or dropped" };
      const bad = await this.contents.stepProblem(head, step);
      if (bad) return bad;
    }
    return undefined;
  }
}

/** A tip as a join lists it, and what the join counts of its branch. */
interface BranchEnd extends BranchTip {
  entries: number;
  nodes: number;
}

function endOf({ head, entry }: Checked): BranchEnd {
  const tip: BranchTip = { scope: head.scope, seq: head.seq, hash: entry.hash };
  return { ...tip, entries: head.seq + (head.inner ?? 0), nodes: head.nodes };
}

/** What is wrong with a link by itself and behind the last one. */
function misfitOf({ seq }: Link, entry: StoredEntry, head: Head, last: Checked | undefined): string | undefined {
  if (sha256(entry.head) !== entry.hash) return "its head does not have the hash stored beside it: it was changed";
  const due = last ? last.head.seq + 1 : 0;
  if (head.seq !== seq || seq !== due) return `link ${due} was dropped`;
  if (last?.head.close) return "it was added behind the close entry";
  if (head.prev !== (last?.entry.hash ?? null))
    return "it does not name the hash of the link before: one of the two was changed";
  if (last && head.node_type !== "close" && last.head.path_taken !== head.node_id)
    return `node "${head.node_id}" does not follow node "${last.head.node_id}", whose edge leads to "${last.head.path_taken}"`;
  const count = seq + 1 + (head.inner ?? 0);
  if (head.close && head.close.count !== count)
    return `the close entry counts ${head.close.count} links, the chain has ${count}`;
  return undefined;
}
