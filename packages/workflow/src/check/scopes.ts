import { type Branching, branchingOf, detoursIn } from "../graph/branching.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** A branch of a fan-out, or (without `fork`) what is in no branch of its body. */
export interface Scope {
  entry: string;
  join: string | null;
  /** The node that fans out, and the scope that it is in. */
  fork?: { node: string; scope: Scope };
}

interface Homes {
  /** The scope that a node is directly in. */
  of: ReadonlyMap<string, Scope>;
  /** Nodes that are in two branches, or in one and outside: entered elsewhere than from a fork, left not to a join. */
  shared: { id: string; branch: Branch; other: Scope }[];
}

export type Branch = Scope & Required<Pick<Scope, "fork">>;

/** How the nodes of an outline branch, with `onError` or without; repeated edges count once, unknown ends not at all. */
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

/** Where a body begins: the start, or of a map's body the nodes that no other one leads to, detours of loops aside. */
export function entriesOf({ nodes, edges, byId, forward, map }: Outline): NamedNode[] {
  const unique = nodes.filter((node) => byId.get(node.id) === node);
  if (map === undefined) return unique.filter((node) => node.kind?.edgesIn === "none");
  const loops = edges.flatMap(({ from = "", to = "", repeats }) => (repeats ? [{ from, to }] : []));
  const detours = new Set(detoursIn(forward, loops));
  const isEntry = ({ id }: NamedNode) => (forward.predecessors.get(id) ?? []).every((before) => before === id);
  return unique.filter((node) => isEntry(node) && !detours.has(node.id));
}

/** Which branch every node is in: from the entries on, each fan-out one step, its branches afterwards. */
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
