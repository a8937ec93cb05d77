import { type Fork, forksOf, joinOf, nodeIndex, onErrorOf, startOf } from "@nova/workflow";
import { branchScope } from "../chain/ids.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { defaultNext, followChoice, type NodeDefinition, nextNodeId } from "../protocol/definition.ts";
import { numbered } from "../protocol/recorded.ts";
import { isReused, type ReuseSelection } from "./selection.ts";
import type { Source, SourceEntry } from "./source.ts";

/** How a run of a version follows its source. Places are named as in the new run. */
export interface SourcePath {
  reused: ReadonlyMap<string, SourceEntry>;
  /** Node ids by place: nodes that run, and all that may follow them. `each[*].find` if the items are not known yet. */
  runs: ReadonlyMap<string, string>;
  stops: ReadonlyMap<string, SourceEntry>;
  misfits: readonly string[];
}

export function followSource(source: Source, version: WorkflowVersion, selection: ReuseSelection): SourcePath {
  return new Walk(source, version, selection).walk();
}

/** Nodes in sequence: the main line, a branch, or an item. */
interface Stretch {
  prefix: string;
  /** The node that comes after it; null at the end of an item, and of the main line. */
  end: string | null;
}

/** The index of the last entry of a stretch that the walk has passed, and the node that comes next. */
interface Progress {
  at: number;
  next: string | null;
}

const marks: ReadonlySet<string> = new Set(["start", "end", "close"]);

class Walk {
  readonly #source: Source;
  readonly #version: WorkflowVersion;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #selection: ReuseSelection;
  readonly #reused = new Map<string, SourceEntry>();
  readonly #runs = new Map<string, string>();
  readonly #stops = new Map<string, SourceEntry>();
  readonly #misfits: string[] = [];
  readonly #visits = new Map<string, number>();

  constructor(source: Source, version: WorkflowVersion, selection: ReuseSelection) {
    this.#source = source;
    this.#version = version;
    this.#forks = forksOf(version.workflow);
    this.#selection = selection;
  }

  walk(): SourcePath {
    const main = { prefix: "", end: null };
    const entries = this.#source.scope("");
    const start = startOf(this.#version.workflow);
    const definition = start && this.#definition(start.id);
    const after =
      definition &&
      this.#passForks(
        main,
        entries,
        { at: 0, next: defaultNext(definition) },
        { id: definition.node.id, place: start.id },
      );
    if (after) this.#follow(main, entries, after);
    return { reused: this.#reused, runs: this.#runs, stops: this.#stops, misfits: this.#misfits };
  }

  /** Follows the rest of a stretch. Returns whether all of the rest is reused. */
  #follow(stretch: Stretch, entries: readonly SourceEntry[], { at, next }: Progress): boolean {
    while (next !== null && next !== stretch.end) {
      const definition = this.#definition(next);
      if (!definition || marks.has(definition.node.type)) return true;
      const found = entries.findIndex(({ head }, index) => index > at && head.node_id === definition.node.id);
      const entry = entries[found];
      const place = this.#visit(stretch, next);
      if (!entry) {
        const onward: string | null | undefined = at + 1 < entries.length ? this.#onlyEdge(definition) : undefined;
        if (onward === undefined) return this.#runFrom(stretch, next);
        this.#runs.set(stretch.prefix + next, next);
        next = onward;
        continue;
      }
      const dropped = entries.slice(at + 1, found).filter(({ head }) => !marks.has(head.node_type));
      this.#misfits.push(...dropped.map(noStep));
      const edge = isReused(this.#selection, entry)
        ? this.#edgeAfter(definition, entry, entries[found - 1])
        : undefined;
      if (edge === undefined) {
        this.#stops.set(place, entry);
        return this.#runFrom(stretch, next);
      }
      this.#reused.set(place, entry);
      const isFork = entry.head.status === "success";
      const after: Progress | undefined = isFork
        ? this.#passForks(stretch, entries, { at: found, next: edge }, { id: definition.node.id, place })
        : { at: found, next: edge };
      if (!after) return false;
      ({ at, next } = after);
    }
    return true;
  }

  /** Passes the forks that a node opens. Undefined if some of their branches are not reused as a whole. */
  #passForks(
    stretch: Stretch,
    entries: readonly SourceEntry[],
    from: Progress,
    node: { id: string; place: string },
  ): Progress | undefined {
    let progress = from;
    for (let fork = this.#forks.get(node.id); fork; fork = this.#forks.get(joinOf(fork.node))) {
      const [entry, join] = [entries[progress.at], entries[progress.at + 1]];
      const isWhole = entry !== undefined && this.#followBranches(stretch, fork, entry, node.place);
      const isSettled =
        join?.head.node_id === joinOf(fork.node) && (join.head.status === "success" || join.isTolerated);
      if (isWhole && isSettled && join.head.status === "failed") return { at: progress.at + 1, next: null };
      if (!isWhole || !isSettled) {
        this.#runFrom(stretch, fork.next);
        this.#runFrom(stretch, this.#rescueOf(fork.node));
        return undefined;
      }
      if (fork.kind === "parallel") this.#noteMissingBranches(fork, entry);
      progress = { at: progress.at + 1, next: nextNodeId(this.#version, fork.next) };
    }
    return progress;
  }

  #rescueOf(fork: string): string | null {
    const { node } = this.#definition(fork) ?? {};
    return (node && "body" in node && onErrorOf(node)) || null;
  }

  /** Notes the branches of the source that the version does not have: the outcome of the join depends on them. */
  #noteMissingBranches({ node, branches }: Fork, { head }: SourceEntry): void {
    const missing = this.#source.branches(head).filter((branch) => !branches.some(({ entry }) => entry === branch));
    const first = missing.flatMap((branch) => this.#source.scope(branchScope(head, node, branch)).slice(0, 1));
    this.#misfits.push(...first.map(noStep));
  }

  /** `place`: that of the node which opens the fork. Returns whether all branches are reused as a whole. */
  #followBranches({ prefix }: Stretch, fork: Fork, { head }: SourceEntry, place: string): boolean {
    const { node, kind, branches, next } = fork;
    const items = Array.from({ length: head.count ?? 0 }, (_, index) => String(index));
    const all =
      kind === "parallel"
        ? branches.map(({ entry }) => ({ branch: entry, entry, stretch: { prefix, end: next } }))
        : items.map((branch) => ({
            branch,
            entry: branches[0]?.entry ?? null,
            stretch: { prefix: `${place}[${branch}].`, end: null },
          }));
    const followed = all.map(({ branch, entry, stretch }) =>
      this.#follow(stretch, this.#source.scope(branchScope(head, node, branch)), { at: -1, next: entry }),
    );
    return followed.every(Boolean);
  }

  /** The node after an outcome of the source. Undefined, with a note, if the version has no edge for the outcome. */
  #edgeAfter(
    definition: NodeDefinition,
    { head, name, isTolerated }: SourceEntry,
    before: SourceEntry | undefined,
  ): string | null | undefined {
    const { node } = definition;
    if (node.type !== head.node_type) {
      const was = `and it was one of type ${head.node_type}`;
      this.#misfits.push(`${name}: the version has a node of type ${node.type} here, ${was}`);
      return undefined;
    }
    if (head.status === "failed") return nextNodeId(this.#version, onErrorOf(node)) ?? (isTolerated ? null : undefined);
    if (head.decision_result === null) return defaultNext(definition);
    const taken = followChoice(definition, head.decision_result, before?.head.loops);
    if (taken) return taken.decision === head.decision_result ? taken.next : undefined;
    this.#misfits.push(`${name}: the version has no edge for ${JSON.stringify(head.decision_result)} here`);
    return undefined;
  }

  /** The next node, if the node does not decide or fork; undefined otherwise. */
  #onlyEdge(definition: NodeDefinition): string | null | undefined {
    const { node, edges } = definition;
    return edges.length > 1 || this.#forks.has(node.id) ? undefined : defaultNext(definition);
  }

  #runFrom(stretch: Stretch, first: string | null): false {
    const ids = new Set([first]);
    for (const id of ids) {
      if (id === null || id === stretch.end) continue;
      const definition = this.#definition(id);
      for (const { entry } of definition ? [] : (this.#forks.get(id)?.branches ?? [])) ids.add(entry);
      if (!definition || marks.has(definition.node.type)) continue;
      const { node, edges } = definition;
      this.#runs.set(stretch.prefix + id, id);
      for (const { to } of edges) ids.add(to);
      ids.add(onErrorOf(node) ?? null);
      const body = "body" in node ? this.#forks.get(id)?.branches[0]?.entry : undefined;
      if (body !== undefined) this.#runFrom({ prefix: `${stretch.prefix}${id}[*].`, end: null }, body);
    }
    return false;
  }

  #visit({ prefix }: Stretch, id: string): string {
    const visit = (this.#visits.get(prefix + id) ?? 0) + 1;
    this.#visits.set(prefix + id, visit);
    return prefix + numbered(id, visit);
  }

  #definition(id: string): NodeDefinition | undefined {
    const found = nodeIndex(this.#version.workflow).get(id);
    return found && { version: this.#version, ...found };
  }
}

function noStep({ name }: SourceEntry): string {
  return `${name}: no step of the version is this one`;
}
