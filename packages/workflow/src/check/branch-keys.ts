import type { ContextUse } from "../code/context-use.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { Node } from "../workflow.ts";
import { type Outline, pathOf } from "./outline.ts";
import { branchingOfOutline } from "./scopes.ts";

type Uses = ReadonlyMap<string, ContextUse>;

/** Keys that two branches of one fork set by name: where the values differ, the join fails. */
export function* checkBranchKeys(outline: Outline, uses: Uses): Iterable<Finding> {
  const contested = contestedKeys(outline, uses);
  if (contested.size === 0) return;
  const { fanOuts, whole } = branchingOfOutline(outline);
  for (const [fork, { targets, meeting }] of fanOuts) {
    if (outline.byId.get(fork)?.node?.merge !== undefined) continue;
    const setBy = new Map<string, string>();
    for (const branch of targets) {
      const nodes = [...whole(branch, meeting)];
      const keys = new Set(nodes.flatMap((id) => contested.get(id) ?? []));
      for (const key of keys) {
        if (nodes.some((id) => uses.get(id)?.deletes(key))) continue;
        const first = setBy.get(key);
        if (first === undefined) setBy.set(key, branch);
        if (first === undefined || first === branch) continue;
        const message = `the branches "${first}" and "${branch}" of "${fork}" both set context["${key}"], and where the values differ the join fails - use two keys, or add "merge": "last" or "collect" to "${fork}"`;
        yield finding("NOVA225", pathOf(outline, fork), message);
      }
    }
  }
}

/** Of every node the keys that it sets and another one sets too. */
function contestedKeys({ byId }: Outline, uses: Uses): ReadonlyMap<string, string[]> {
  const keys = [...byId.values()].map(({ id, node }) => [id, keysOf(uses.get(id), node)] as const);
  const writers = Map.groupBy(
    keys.flatMap(([, own]) => own),
    (key) => key,
  );
  const shared = keys.map(([id, own]) => [id, own.filter((key) => (writers.get(key)?.length ?? 0) > 1)] as const);
  return new Map(shared.filter(([, own]) => own.length > 0));
}

function keysOf(use: ContextUse | undefined, node: Node | undefined): string[] {
  if (node?.type === "map" || node?.type === "approval") return [node.into];
  if (node?.type === "wait") return node.for.kind === "event" ? [node.for.into] : [];
  return [...(use?.writes ?? [])];
}
