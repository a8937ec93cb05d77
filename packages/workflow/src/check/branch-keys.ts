import type { ContextUse } from "../code/context-use.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { Node } from "../workflow.ts";
import { list, type Outline, pathOf } from "./outline.ts";
import { type Branch, branchingOfOutline, homesOf, isBranch, type Scope } from "./scopes.ts";

type Uses = ReadonlyMap<string, ContextUse>;

/** Keys that two branches of one fork set by name: where the values differ, the join fails. */
export function* checkBranchKeys(outline: Outline, uses: Uses): Iterable<Finding> {
  const writers = nodesByKey(outline.nodes.map(({ id, node }) => [id, keysOf(uses.get(id), node)]));
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

function keysOf(use: ContextUse | undefined, node: Node | undefined): string[] {
  if (node?.type === "map" || node?.type === "approval") return [node.into];
  if (node?.type === "workflow") return Object.keys(node.output);
  if (node?.type === "wait") return node.for.kind === "event" ? [node.for.into] : [];
  return [...(use?.writes ?? [])];
}
