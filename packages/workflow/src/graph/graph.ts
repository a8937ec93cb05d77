/** A workflow as nothing but its arrows, for questions that all are linear in nodes plus edges. */
export interface Graph {
  /** In the order of the definition. */
  ids: string[];
  /** Ids that a node may go on with, `onError` included; every id has its list. */
  successors: ReadonlyMap<string, string[]>;
  predecessors: ReadonlyMap<string, string[]>;
}

interface Arrow {
  from: string;
  to: string;
}

/** Arrows that name an unknown node are left out. */
export function graphOf(nodes: readonly { id: string; onError?: string }[], edges: readonly Arrow[]): Graph {
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
