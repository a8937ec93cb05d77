import { type Branching, branchingOf, detoursIn } from "../graph/branching.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** A branch of a fan-out, or (without `fork`) the part of a body that belongs to no branch. */
export interface Scope {
  entry: string;
  join: string | null;
  /** The node that fans out, and the scope that contains it. */
  fork?: { node: string; scope: Scope };
}

interface Homes {
  /** The innermost scope of each node. */
  of: ReadonlyMap<string, Scope>;
  /**
   * Nodes in two branches, or in a branch and also in the part around it: entered other than through the fork, or left
   * other than to the join.
   */
  shared: { id: string; branch: Branch; other: Scope }[];
}

export type Branch = Scope & Required<Pick<Scope, "fork">>;

/**
 * Finds the branches of an outline, with or without `onError`. Loop edges are separate, and edges with unknown ends are
 * left out.
 */
export function branchingOfOutline({ byId, edges, map }: Outline, withFailures = true): Branching {
  const points = [...byId.values()].map((node) => ({
    id: node.id,
    onError: withFailures ? node.onError : undefined,
    fansOut: node.kind?.edgesOut === "one",
    isDone: map !== undefined && node.kind?.edgesOut === "none",
  }));
  const known = edges.flatMap(({ from = "", to = "", repeats }) =>
    byId.has(from) && byId.has(to) ? [{ from, to, repeats }] : [],
  );
  const [onward, loops] = [known.filter(({ repeats }) => !repeats), known.filter(({ repeats }) => repeats)];
  return branchingOf(points, onward, loops);
}

/**
 * Returns the entries of a body: its start, or the nodes of a map's body without an incoming edge, except detours of
 * loops.
 */
export function entriesOf({ nodes, edges, byId, forward, map }: Outline): NamedNode[] {
  const unique = nodes.filter((node) => byId.get(node.id) === node);
  if (map === undefined) return unique.filter((node) => node.kind?.edgesIn === "none");
  const loops = edges.flatMap(({ from = "", to = "", repeats }) => (repeats ? [{ from, to }] : []));
  const detours = new Set(detoursIn(forward, loops));
  const isEntry = ({ id }: NamedNode) => (forward.predecessors.get(id) ?? []).every((before) => before === id);
  return unique.filter((node) => isEntry(node) && !detours.has(node.id));
}

/**
 * Assigns every node to its branch. It walks from the entries, treats each fan-out as one step, and visits the branches
 * afterwards.
 */
export function homesOf(outline: Outline, branching: Branching): Homes {
  const homes = new Map<string, Scope>();
  const shared = new Map<string, Homes["shared"][number]>();
  const scopes: Scope[] = entriesOf(outline).map(({ id }) => ({ entry: id, join: null }));
  for (const scope of scopes) {
    const enter = (id: string) => {
      const home = homes.get(id);
      const [branch, other] = home?.fork === undefined ? [scope, home] : [home, scope];
      if (other && branch !== other && isBranch(branch)) shared.set(id, { id, branch, other });
      return home === undefined;
    };
    for (const id of branching.stretch(scope.entry, scope.join, enter)) {
      homes.set(id, scope);
      const fanOut = branching.fanOuts.get(id);
      if (!fanOut || (fanOut.meeting === null && outline.map === undefined)) continue;
      for (const entry of fanOut.targets) scopes.push({ entry, join: fanOut.meeting, fork: { node: id, scope } });
    }
  }
  return { of: homes, shared: [...shared.values()] };
}

export function isBranch(scope: Scope): scope is Branch {
  return scope.fork !== undefined;
}
