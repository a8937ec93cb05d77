import { type Finding, finding } from "../findings/finding.ts";
import type { Graph } from "../graph/graph.ts";
import { type Branch, branchingOfOutline, homesOf, isBranch, type Scope } from "./forks.ts";
import { type CodeKeys, type KeyReader, keysOfNode } from "./keys-before.ts";
import { executorOf, listIds, type NamedNode, type Outline, pathOf } from "./outline.ts";

/**
 * Warns of keys that are overwritten before any node reads them, or set by two branches. The warnings are only correct
 * if the definition has no errors.
 */
export function* checkKeys(outlines: readonly Outline[], reader: KeyReader): Iterable<Finding> {
  // An overwritten value can still be read: from `outputs` (which generated code may use), and in the prompt of a text
  // node.
  const seesOlder = outlines.some(({ nodes }) =>
    nodes.some((node) => /\boutputs\b/.test(node.python?.code ?? "") || (executorOf(node)?.kind ?? "code") !== "code"),
  );
  for (const outline of outlines) {
    const uses = new Map(outline.nodes.flatMap((node) => usesOf(node, reader)));
    if (!seesOlder) yield* checkOverwrites(outline, uses);
    yield* checkBranchKeys(outline, uses);
  }
}

/**
 * Returns the keys that the code of a node reads and sets; an empty list if the node has no readable code. Leaves out
 * `branch_decision` among the set keys, because the run itself reads and removes it.
 */
function usesOf({ id, python }: NamedNode, reader: KeyReader): [string, CodeKeys][] {
  const use = python && reader.readCodeKeys(python.code);
  const sets = [...(use?.sets ?? [])].filter(([key]) => key !== "branch_decision");
  return use ? [[id, { ...use, sets: new Map(sets) }]] : [];
}

function* checkOverwrites(outline: Outline, uses: Uses): Iterable<Finding> {
  const { nodes, byId, graph } = outline;
  const mayFail = new Set(nodes.filter((node) => node.onError !== undefined).map((node) => node.id));
  for (const { key, first, second } of findOverwrites(graph, uses, mayFail)) {
    const python = byId.get(second)?.python;
    const message = `"${second}" sets context["${key}"] before any node reads the value of "${first}" - read it, or use another key`;
    const { line, column } = uses.get(second)?.sets.get(key) ?? {};
    const place = python?.file === undefined || !line || !column ? {} : { file: python.file, line, column };
    yield finding("NOVA504", python?.path ?? "$", message, place);
  }
}

/**
 * After this number of nodes, the search for a node that reads the key gives up, so that large graphs are checked
 * quickly.
 */
const horizon = 100;

/**
 * Finds keys that `first` sets and that no node reads before they are set again. On every path of a run, `second` or
 * another node sets them again. Nodes without an entry in `uses` (such as ends) count as readers of every key, and so
 * does the end of a map's item. Nodes in `mayFail` have an `onError`: if they fail, the run continues with the older
 * value.
 */
function* findOverwrites(graph: Graph, uses: Uses, mayFail: ReadonlySet<string>) {
  const writers = new Map<string, number>();
  for (const use of uses.values()) for (const key of use.sets.keys()) writers.set(key, (writers.get(key) ?? 0) + 1);
  for (const [first, use] of uses) {
    for (const key of use.sets.keys()) {
      const second = writers.get(key) === 1 ? undefined : overwriterOf(first, key);
      if (second !== undefined) yield { key, first, second };
    }
  }

  function overwriterOf(id: string, key: string): string | undefined {
    let nearest: string | undefined;
    const seen = new Set(graph.successors.get(id));
    for (const next of seen) {
      const use = uses.get(next);
      if (!use || use.mayRead(key) || seen.size > horizon) return undefined;
      const later = graph.successors.get(next) ?? [];
      if (!use.sets.get(key)?.always) {
        if (later.length === 0) return undefined;
        for (const id of later) seen.add(id);
      } else if (mayFail.has(next)) return undefined;
      else nearest ??= next;
    }
    return nearest;
  }
}

type Uses = ReadonlyMap<string, CodeKeys>;

/** Finds keys that two branches of one fork set: the join fails if the values differ. */
function* checkBranchKeys(outline: Outline, uses: Uses): Iterable<Finding> {
  const writers = nodesByKey(
    outline.nodes.map(({ id, node }) => [id, keysOfNode(node) ?? [...(uses.get(id)?.sets.keys() ?? [])]]),
  );
  const contested = [...writers].filter(([, own]) => own.length > 1);
  if (contested.length === 0) return;
  const { of: homes } = homesOf(outline, branchingOfOutline(outline));
  const deleters = nodesByKey([...uses].map(([id, use]) => [id, [...use.deletes]]));
  for (const [key, own] of contested) {
    const taken = new Set(branchesAround(deleters.get(key) ?? [], homes));
    const setting = branchesAround(own, homes).filter((branch) => !taken.has(branch));
    for (const [fork, branches] of Map.groupBy(setting, (branch) => branch.fork.node)) {
      if (branches.length < 2 || outline.byId.get(fork)?.node?.merge !== undefined) continue;
      const names = listIds(branches.map(({ entry }) => entry));
      const message = `branches of "${fork}" (${names}) each set context["${key}"], and the join fails if the values differ - use a key for each, or add "merge": "last" or "collect" to "${fork}"`;
      yield finding("NOVA225", pathOf(outline, fork), message);
    }
  }
}

/** Returns the branches that contain one of these nodes, directly or in a nested branch. */
function branchesAround(nodes: readonly string[], homes: ReadonlyMap<string, Scope>): Branch[] {
  const found = new Set<Branch>();
  for (const id of nodes) {
    let scope = homes.get(id);
    while (scope && isBranch(scope) && !found.has(scope)) {
      found.add(scope);
      scope = scope.fork.scope;
    }
  }
  return [...found];
}

function nodesByKey(nodes: [id: string, keys: string[]][]): Map<string, string[]> {
  const pairs = nodes.flatMap(([id, keys]) => keys.map((key) => ({ id, key })));
  return new Map([...Map.groupBy(pairs, ({ key }) => key)].map(([key, own]) => [key, own.map(({ id }) => id)]));
}
