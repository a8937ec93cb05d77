import { type Fork, forksOf, joinOf, nodeIndex, onErrorOf, startOf } from "@nova/workflow";
import { branchScope } from "../chain/ids.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { opensFork } from "../protocol/branches.ts";
import { defaultNext, followChoice, type NodeDefinition, nextNodeId } from "../protocol/definition.ts";
import { nameVisit } from "../protocol/recorded.ts";
import { isReused, type ReuseSelection } from "./selection.ts";
import type { Source, SourceEntry } from "./source.ts";

/**
 * The nodes of a new run that reuse outcomes of the source, and the nodes that run again. The names of places are those
 * of the new run.
 */
export type SourcePath = ReturnType<typeof followSource>;

/** A sequence of nodes: the main line, a branch, or an item. */
interface Stretch {
  prefix: string;
  /** The node after the last node of this sequence; null at the end of an item or of the main line. */
  end: string | null;
}

/**
 * The position of the walk in a sequence: the index of the last entry that it has passed, and the node that comes next.
 */
interface Progress {
  at: number;
  next: string | null;
}

const marks: ReadonlySet<string> = new Set(["start", "end", "close"]);

export function followSource(source: Source, version: WorkflowVersion, selection: ReuseSelection) {
  const forks = forksOf(version.workflow);
  const reused = new Map<string, SourceEntry>();
  /**
   * The ids of the nodes that run, and of all nodes that may follow them, by place. A place is `each[*].find` if the
   * items are not known yet.
   */
  const runs = new Map<string, string>();
  const stops = new Map<string, SourceEntry>();
  const misfits: string[] = [];
  /** How often the walk has passed a node, by the name of its place without the visit. */
  const visits = new Map<string, number>();

  const main = { prefix: "", end: null };
  const entries = source.scope("");
  const start = startOf(version.workflow);
  const definition = start && findDefinition(start.id);
  const after =
    definition &&
    passForks(main, entries, { at: 0, next: defaultNext(definition) }, { id: definition.node.id, place: start.id });
  if (after) follow(main, entries, after);
  return { reused, runs, stops, misfits };

  /** Follows the rest of a sequence of nodes. Returns whether the new run reuses the outcomes of all these nodes. */
  function follow(stretch: Stretch, entries: readonly SourceEntry[], { at, next }: Progress): boolean {
    while (next !== null && next !== stretch.end) {
      const definition = findDefinition(next);
      if (!definition || marks.has(definition.node.type)) return true;
      const found = entries.findIndex(({ head }, index) => index > at && head.node_id === definition.node.id);
      const entry = entries[found];
      const place = visit(stretch, next);
      if (!entry) {
        const onward: string | null | undefined = at + 1 < entries.length ? onlyEdge(definition) : undefined;
        if (onward === undefined) return runFrom(stretch, next);
        runs.set(stretch.prefix + next, next);
        next = onward;
        continue;
      }
      const dropped = entries.slice(at + 1, found).filter(({ head }) => !marks.has(head.node_type));
      misfits.push(...dropped.map(noStep));
      const edge = isReused(selection, entry) ? edgeAfter(definition, entry, entries[found - 1]) : undefined;
      if (edge === undefined) {
        stops.set(place, entry);
        return runFrom(stretch, next);
      }
      reused.set(place, entry);
      const isFork = entry.head.status === "success" && opensFork(entry.head);
      const after: Progress | undefined = isFork
        ? passForks(stretch, entries, { at: found, next: edge }, { id: definition.node.id, place })
        : { at: found, next: edge };
      if (!after) return false;
      ({ at, next } = after);
    }
    return true;
  }

  /** Walks through the forks that a node opens. Returns undefined if some outcome in the branches is not reused. */
  function passForks(
    stretch: Stretch,
    entries: readonly SourceEntry[],
    from: Progress,
    node: { id: string; place: string },
  ): Progress | undefined {
    let progress = from;
    for (let fork = forks.get(node.id); fork; fork = forks.get(joinOf(fork.node))) {
      const [entry, join] = [entries[progress.at], entries[progress.at + 1]];
      const isWhole = entry !== undefined && followBranches(stretch, fork, entry, node.place);
      const isSettled =
        join?.head.node_id === joinOf(fork.node) && (join.head.status === "success" || join.isTolerated);
      if (isWhole && isSettled && join.head.status === "failed") return { at: progress.at + 1, next: null };
      if (!isWhole || !isSettled) {
        runFrom(stretch, fork.next);
        runFrom(stretch, rescueOf(fork.node));
        return undefined;
      }
      if (fork.kind === "parallel") noteMissingBranches(fork, entry);
      progress = { at: progress.at + 1, next: nextNodeId(version, fork.next) };
    }
    return progress;
  }

  function rescueOf(fork: string): string | null {
    const { node } = findDefinition(fork) ?? {};
    return (node && "body" in node && onErrorOf(node)) || null;
  }

  /**
   * Notes each branch of the source that the version does not have, because the outcome of the join depends on such a
   * branch.
   */
  function noteMissingBranches({ node, branches }: Fork, { head }: SourceEntry): void {
    const missing = source.branches(head).filter((branch) => !branches.some(({ entry }) => entry === branch));
    const first = missing.flatMap((branch) => source.scope(branchScope(head, node, branch)).slice(0, 1));
    misfits.push(...first.map(noStep));
  }

  /**
   * Walks through the branches of a fork. `place`: the place of the node that opens the fork. Returns whether all
   * outcomes of the branches are reused.
   */
  function followBranches({ prefix }: Stretch, fork: Fork, { head }: SourceEntry, place: string): boolean {
    const { node, kind, branches, next } = fork;
    const items = Array.from({ length: head.count ?? 0 }, (_, index) => String(index));
    const all =
      kind === "parallel"
        ? branches.map(({ entry }) => ({ branch: entry, entry, stretch: { prefix, end: next } }))
        : items.map((branch) => ({
            branch,
            entry: head.calls ? (head.calls[Number(branch)] ?? null) : (branches[0]?.entry ?? null),
            stretch: { prefix: `${place}[${branch}].`, end: null },
          }));
    const followed = all.map(({ branch, entry, stretch }) =>
      follow(stretch, source.scope(branchScope(head, node, branch)), { at: -1, next: entry }),
    );
    return followed.every(Boolean);
  }

  /**
   * Returns the node that follows an outcome of the source. Returns undefined if no node can follow. If the version
   * does not fit the outcome, also notes a misfit.
   */
  function edgeAfter(
    definition: NodeDefinition,
    { head, name, isTolerated }: SourceEntry,
    before: SourceEntry | undefined,
  ): string | null | undefined {
    const { node } = definition;
    if (node.type !== head.node_type) {
      const was = `and it was one of type ${head.node_type}`;
      misfits.push(`${name}: the version has a node of type ${node.type} here, ${was}`);
      return undefined;
    }
    if (head.status === "failed") return nextNodeId(version, onErrorOf(node)) ?? (isTolerated ? null : undefined);
    if (head.decision_result === null) return defaultNext(definition, head.calls);
    const taken = followChoice(definition, head.decision_result, before?.head.loops);
    if (taken) return taken.decision === head.decision_result ? taken.next : undefined;
    misfits.push(`${name}: the version has no edge for ${JSON.stringify(head.decision_result)} here`);
    return undefined;
  }

  /**
   * Returns the next node if only one node can follow, because this node does not decide or fork. Otherwise returns
   * undefined.
   */
  function onlyEdge(definition: NodeDefinition): string | null | undefined {
    const { node, edges } = definition;
    return edges.length > 1 || forks.has(node.id) ? undefined : defaultNext(definition);
  }

  function runFrom(stretch: Stretch, first: string | null): false {
    const ids = new Set([first]);
    for (const id of ids) {
      if (id === null || id === stretch.end) continue;
      const definition = findDefinition(id);
      for (const { entry } of definition ? [] : (forks.get(id)?.branches ?? [])) ids.add(entry);
      if (!definition || marks.has(definition.node.type)) continue;
      const { node, edges } = definition;
      runs.set(stretch.prefix + id, id);
      for (const { to } of edges) ids.add(to);
      ids.add(onErrorOf(node) ?? null);
      const body = "body" in node ? forks.get(id)?.branches[0]?.entry : undefined;
      if (body !== undefined) runFrom({ prefix: `${stretch.prefix}${id}[*].`, end: null }, body);
    }
    return false;
  }

  function visit({ prefix }: Stretch, id: string): string {
    const visit = (visits.get(prefix + id) ?? 0) + 1;
    visits.set(prefix + id, visit);
    return prefix + nameVisit(id, visit);
  }

  function findDefinition(id: string): NodeDefinition | undefined {
    const found = nodeIndex(version.workflow).get(id);
    return found && { version, ...found };
  }
}

function noStep({ name }: SourceEntry): string {
  return `${name}: no step of the version is this one`;
}
