import { type Finding, finding } from "../findings/finding.ts";
import type { Graph } from "../graph/graph.ts";
import { type CodeKeys, type KeyReader, keysOfNode } from "./keys-before.ts";
import { executorOf, list, type NamedNode, type Outline, pathOf } from "./outline.ts";
import { type Branch, branchingOfOutline, homesOf, isBranch, type Scope } from "./scopes.ts";

/** What can be said about the keys that nodes set. For definitions without errors: in others it would guess. */
export function* checkKeys(outlines: readonly Outline[], reader: KeyReader): Iterable<Finding> {
  // `outputs` shows what a node has set even after another one has set it again. What a model will write is not known; a
  // prompt of a text node looks at other nodes' results.
  const seesOlder = outlines.some(({ nodes }) =>
    nodes.some((node) => /\boutputs\b/.test(node.python?.code ?? "") || (executorOf(node)?.kind ?? "code") !== "code"),
  );
  for (const outline of outlines) {
    const uses = new Map(outline.nodes.flatMap((node) => usesOf(node, reader)));
    if (!seesOlder) yield* checkOverwrites(outline, uses);
    yield* checkBranchKeys(outline, uses);
  }
}

/** Code that cannot be read says nothing; a choice is read, and removed, by the run itself. */
function usesOf({ id, python }: NamedNode, reader: KeyReader): [string, CodeKeys][] {
  const use = python && reader.readCodeKeys(python.code);
  const sets = [...(use?.sets ?? [])].filter(([key]) => key !== "branch_decision");
  return use ? [[id, { ...use, sets: new Map(sets) }]] : [];
}

/** Results that are lost before anything looks at them. For graphs without errors: in others it would guess. */
function* checkOverwrites(outline: Outline, uses: Uses): Iterable<Finding> {
  const { nodes, byId, graph } = outline;
  const mayFail = new Set(nodes.filter((node) => node.onError !== undefined).map((node) => node.id));
  for (const { key, first, second } of findOverwrites(graph, uses, mayFail)) {
    const python = byId.get(second)?.python;
    const message = `"${second}" sets context["${key}"] before anything reads what "${first}" has put there - read it, or use another key`;
    const { line, column } = uses.get(second)?.sets.get(key) ?? {};
    const place = python?.file === undefined || !line || !column ? {} : { file: python.file, line, column };
    yield finding("NOVA504", python?.path ?? "$", message, place);
  }
}

/** How far behind a node its readers are looked for: what is further away stays unsaid, so that large graphs stay fast. */
const horizon = 100;

/**
 * Keys whose value nothing reads before another node sets it, whichever way a run takes. Nodes without a use (the ends
 * of a run among them) read everything, and so does what follows a node without ways on: an item's results. `mayFail`
 * are nodes whose failure goes on elsewhere, with the older value. The value of `first` is lost on every way, and `second`
 * is one of the nodes that set the key again.
 */
function* findOverwrites(
  graph: Graph,
  uses: Uses,
  mayFail: ReadonlySet<string>,
): Iterable<{ key: string; first: string; second: string }> {
  const writers = new Map<string, number>();
  for (const use of uses.values()) for (const key of use.sets.keys()) writers.set(key, (writers.get(key) ?? 0) + 1);
  for (const [first, use] of uses) {
    for (const key of use.sets.keys()) {
      const second = writers.get(key) === 1 ? undefined : overwriterOf(first, key);
      if (second !== undefined) yield { key, first, second };
    }
  }

  /** The nearest overwriter, if every way from the node meets one before it meets a reader. */
  function overwriterOf(id: string, key: string): string | undefined {
    let nearest: string | undefined;
    const seen = new Set(graph.successors.get(id));
    for (const next of seen) {
      const use = uses.get(next);
      if (!use || use.mayRead(key) || seen.size > horizon) return undefined;
      const behind = graph.successors.get(next) ?? [];
      if (!use.sets.get(key)?.always) {
        if (behind.length === 0) return undefined;
        for (const later of behind) seen.add(later);
      } else if (mayFail.has(next)) return undefined;
      else nearest ??= next;
    }
    return nearest;
  }
}

type Uses = ReadonlyMap<string, CodeKeys>;

/** Keys that two branches of one fork set by name: where the values differ, the join fails. */
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
      const names = list(branches.map(({ entry }) => entry));
      const message = `branches of "${fork}" (${names}) set context["${key}"] each, and where the values differ the join fails - use a key for each, or add "merge": "last" or "collect" to "${fork}"`;
      yield finding("NOVA225", pathOf(outline, fork), message);
    }
  }
}

/** The branches that hold some of these nodes, directly or further in; each once, so that deep forks take no longer. */
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
