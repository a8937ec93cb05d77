import type { Schemas } from "@nova/client";
import { elementsOf, memberOf, textIn } from "../../json/raw.ts";

export type Finding = Schemas["Finding"];

/** Findings by the node that they are about; those about the whole under "". */
export function findingsByNode(definition: string, findings: readonly Finding[]): Map<string, Finding[]> {
  return Map.groupBy(findings, ({ path }) => nodeAt(definition, path) ?? "");
}

/** The node that a path leads to, as in `$.nodes[5].nodes[0].code`; of an edge the node that it leaves. */
export function nodeAt(definition: string, path: string): string | undefined {
  let [body, id]: [string, string | undefined] = [definition, undefined];
  for (const [, list, index] of path.matchAll(/\.(nodes|edges)\[(\d{1,6})\]/g)) {
    const found = elementsOf(memberOf(body, list as string) ?? "[]")[Number(index)];
    if (found === undefined) return id;
    if (list === "edges") return textIn(memberOf(found, "from"));
    id = textIn(memberOf(found, "id"));
    body = memberOf(found, "body") ?? "{}";
  }
  return id;
}
