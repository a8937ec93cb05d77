import { type Finding, finding } from "../findings/finding.ts";
import type { KeyReader } from "./keys-of-code.ts";
import { list, type NamedNode, type Outline } from "./outline.ts";
import { branchingOfOutline, homesOf, type Scope } from "./scopes.ts";

interface NameableWaits {
  /** Every wait for an event. */
  all: string[];
  /** Those that the code of a node can name: of its branch, and of those around it. */
  at(node: string): ReadonlySet<string>;
}

export function nameableWaits(outlines: readonly Outline[]): NameableWaits {
  const around = new Map<string, Place>();
  const waits = new Map<Scope, string[]>();
  for (const outline of outlines) {
    const map = outline.map?.id;
    for (const [id, scope] of homesOf(outline, branchingOfOutline(outline)).of) {
      around.set(id, { scope, ...(map !== undefined && { map }) });
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

/** Where a node is: its branch, and the map whose body that is in. */
interface Place {
  scope: Scope;
  map?: string;
}

/** NOVA509: links that the code of a node reads and cannot have. */
export function* checkNamedWaits(
  { id, python }: NamedNode,
  waits: NameableWaits,
  reader: KeyReader,
): Iterable<Finding> {
  const named = python && reader.codeKeys(python.code)?.waits;
  if (!python || !named || named.length === 0) return;
  const nameable = waits.at(id);
  for (const { id: wait, line, column } of named) {
    if (nameable.has(wait)) continue;
    const place = { line, column, ...(python.file !== undefined && { file: python.file }) };
    const message = `node "${id}": line ${line}: ${whyNot(wait, waits.all, [...nameable], reader)}`;
    yield finding("NOVA509", python.path, message, place);
  }
}

function whyNot(wait: string, all: readonly string[], nameable: readonly string[], reader: KeyReader): string {
  if (all.includes(wait))
    return `the wait "${wait}" is in a branch or a map that this node is not in - read its link there`;
  const { near } = reader.nearKey(wait, nameable);
  const others = nameable.length === 0 ? "add such a wait" : `name one of ${list(nameable)}`;
  return `no node "${wait}" waits for an event - ${near === undefined ? others : `did you mean "${near}"?`}`;
}

function isEventWait(node: NamedNode | undefined): boolean {
  return node?.node?.type === "wait" && node.node.for.kind === "event";
}
