import type { Finding, FindingCode } from "../findings/finding.ts";
import type { KeyReader, NameableWaits, NamedId, NodeCheck } from "./keys-before.ts";
import { findingInCode, listIds, type NamedNode, type Outline } from "./outline.ts";
import { branchingOfOutline, homesOf, type Scope } from "./scopes.ts";

export function nameableWaits(outlines: readonly Outline[]): NameableWaits {
  /** The branch of each node, and the map whose body contains it. */
  const around = new Map<string, { scope: Scope; map: string | undefined }>();
  const waits = new Map<Scope, string[]>();
  for (const outline of outlines) {
    const map = outline.map?.id;
    for (const [id, scope] of homesOf(outline, branchingOfOutline(outline)).of) {
      around.set(id, { scope, map });
      if (isEventWait(outline.byId.get(id))) waits.set(scope, [...(waits.get(scope) ?? []), id]);
    }
  }
  return {
    all: [...waits.values()].flat(),
    at(node) {
      const named = new Set<string>();
      for (let place = around.get(node); place; place = around.get(place.map ?? "")) {
        for (let scope: Scope | undefined = place.scope; scope; scope = scope.fork?.scope)
          for (const id of waits.get(scope) ?? []) named.add(id);
      }
      return named;
    },
  };
}

/** NOVA509: resume links that the code of a node reads but cannot have. */
export function checkNamedWaits({ node, waits, reader }: NodeCheck): Iterable<Finding> {
  const nameable = waits.at(node.id);
  return checkNamed(node, reader.readCodeKeys(node.python?.code ?? "")?.waits, "NOVA509", (wait) => {
    if (nameable.has(wait)) return undefined;
    if (waits.all.includes(wait))
      return `the wait "${wait}" is in a branch or a map that this node is not in - read its link there`;
    const others = nameable.size === 0 ? "add such a wait" : `name one of ${listIds([...nameable])}`;
    return `no node "${wait}" waits for an event - ${wayOut(wait, nameable, reader, others)}`;
  });
}

/** NOVA510: results that the code of a node reads before any node sets them. */
export function checkNamedResults({ node, before, outline: { homeOf }, reader }: NodeCheck): Iterable<Finding> {
  const { id } = node;
  return checkNamed(node, reader.readCodeKeys(node.python?.code ?? "")?.results, "NOVA510", (named) => {
    if (before.mayRunBefore(named, id)) return undefined;
    const others = [...homeOf.keys()].filter((other) => before.mayRunBefore(other, id));
    if (homeOf.has(named))
      return `"${named}" (in ${homeOf.get(named)}) does not run before "${id}" - name one of ${listIds(others)}`;
    return `there is no node "${named}" - ${wayOut(named, others, reader, `name one of ${listIds(others)}`)}`;
  });
}

function* checkNamed(
  node: NamedNode,
  named: readonly NamedId[] | undefined,
  code: FindingCode,
  problemOf: (id: string) => string | undefined,
): Iterable<Finding> {
  for (const { id, ...place } of named ?? []) {
    const problem = problemOf(id);
    if (problem !== undefined) yield findingInCode(code, node, place, problem);
  }
}

function wayOut(wrong: string, ids: Iterable<string>, reader: KeyReader, otherwise: string): string {
  const longer = [...ids].filter((id) => id.startsWith(wrong));
  const near = longer.length === 1 ? longer[0] : reader.findNearKey(wrong, [...ids]).near;
  return near === undefined ? otherwise : `did you mean "${near}"?`;
}

function isEventWait(node: NamedNode | undefined): boolean {
  return node?.node?.type === "wait" && node.node.for.kind === "event";
}
