import type { Schemas } from "@nova/client";
import { findMember, listElements, readString } from "../../json/raw.ts";

export type Finding = Schemas["Finding"];

/** Groups findings by node; findings about the whole workflow have the key "". */
export function groupFindings(definition: string, findings: readonly Finding[]): Map<string, Finding[]> {
  return Map.groupBy(findings, ({ path }) => findNodeAt(definition, path) ?? "");
}

/** Finds the node of a path such as `$.nodes[5].nodes[0].code`; for an edge, the node that it leaves. */
export function findNodeAt(definition: string, path: string): string | undefined {
  let [body, id]: [string, string | undefined] = [definition, undefined];
  for (const [, list, index] of path.matchAll(/\.(nodes|edges)\[(\d{1,6})\]/g)) {
    const element = listElements(findMember(body, list as string) ?? "[]")[Number(index)];
    if (element === undefined) return id;
    if (list === "edges") return readString(findMember(element, "from"));
    id = readString(findMember(element, "id"));
    body = findMember(element, "body") ?? "{}";
  }
  return id;
}
