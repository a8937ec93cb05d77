export interface Graph {
  ids: string[];
  /** Ids of the next nodes, `onError` included. Every id has a list. */
  successors: ReadonlyMap<string, string[]>;
  predecessors: ReadonlyMap<string, string[]>;
}

/** Builds a graph. Edges that name an unknown node are left out. */
export function graphOf(
  nodes: readonly { id: string; onError?: string | undefined }[],
  edges: readonly { from: string; to: string }[],
): Graph {
  const ids = [...new Set(nodes.map((node) => node.id))];
  const successors = new Map(ids.map((id) => [id, [] as string[]]));
  const predecessors = new Map(ids.map((id) => [id, [] as string[]]));
  const failures = nodes.flatMap(({ id, onError }) => (onError === undefined ? [] : [{ from: id, to: onError }]));
  for (const { from, to } of [...edges, ...failures]) {
    const out = successors.get(from);
    const into = predecessors.get(to);
    if (!out || !into) continue;
    out.push(to);
    into.push(from);
  }
  return { ids, successors, predecessors };
}

export function reachableFrom(graph: Graph, starts: readonly string[]): Set<string> {
  return spread(graph.successors, starts);
}

export function canReach(graph: Graph, ends: readonly string[]): Set<string> {
  return spread(graph.predecessors, ends);
}

function spread(arrows: Graph["successors"], from: readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const next of arrows.get(id) ?? []) seen.add(next);
  return seen;
}

/** Returns all reachable nodes, each after the nodes that it leads to, except in cycles. It does not recurse. */
export function lastToFirst(starts: readonly string[], nextOf: (id: string) => readonly string[]): string[] {
  const done = new Set<string>();
  const seen = new Set<string>();
  const waiting = [...starts];
  while (waiting.length > 0) {
    const id = waiting.at(-1) as string;
    const isNew = !seen.has(id);
    seen.add(id);
    const next = isNew ? nextOf(id).filter((one) => !seen.has(one)) : [];
    waiting.push(...next);
    if (next.length > 0) continue;
    waiting.pop();
    done.add(id);
  }
  return [...done];
}

/**
 * Splits the members of a set into groups. No other member leads to the head of a group; a cycle has its first member
 * as its head. A finding names the head, which has to be connected, and lists the others.
 */
export function groupsOf(graph: Graph, members: ReadonlySet<string>): { head: string; others: string[] }[] {
  const inOrder = graph.ids.filter((id) => members.has(id));
  const isHead = (id: string) => !graph.predecessors.get(id)?.some((before) => before !== id && members.has(before));
  const taken = new Set<string>();
  const group = (head: string) => {
    const before = taken.size;
    const own = new Set([head]);
    for (const id of own) {
      taken.add(id);
      for (const next of graph.successors.get(id) ?? []) if (members.has(next) && !taken.has(next)) own.add(next);
    }
    return taken.size === before ? [] : [{ head, others: [...own].slice(1) }];
  };
  const heads = inOrder.filter(isHead).flatMap(group);
  return [...heads, ...inOrder.flatMap((id) => (taken.has(id) ? [] : group(id)))];
}

/**
 * Cycles, at least one for every knot of nodes that lead to one another; cycles that share their closing edge's ends
 * with one already found are left out (there may be exponentially many). Depth first, without recursion.
 */
export function findCycles(graph: Graph): string[][] {
  const cycles: string[][] = [];
  const reported = new Set<string>();
  const finished = new Set<string>();
  for (const root of graph.ids) {
    if (finished.has(root)) continue;
    const path = [root];
    const depth = new Map([[root, 0]]);
    const waiting = [[...(graph.successors.get(root) ?? [])].reverse()];
    while (path.length > 0) {
      const here = path.at(-1) as string;
      const next = waiting.at(-1)?.pop();
      if (next === undefined) {
        finished.add(here);
        depth.delete(here);
        path.pop();
        waiting.pop();
        continue;
      }
      const at = depth.get(next);
      if (at !== undefined && !reported.has(here) && !reported.has(next)) {
        const cycle = path.slice(at);
        for (const id of cycle) reported.add(id);
        cycles.push(cycle);
      }
      if (at !== undefined || finished.has(next)) continue;
      depth.set(next, path.length);
      path.push(next);
      waiting.push([...(graph.successors.get(next) ?? [])].reverse());
    }
  }
  return cycles;
}
