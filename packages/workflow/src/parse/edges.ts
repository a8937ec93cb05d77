import { AuthoredEdge } from "../authored/edge.ts";
import { finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { findingsOf } from "./issues.ts";
import { isObject } from "./loose.ts";
import type { ReadEdge } from "./read.ts";

export function readEdge(value: unknown, path: string): ReadEdge {
  const { max, ...rest } = isObject(value) ? value : { max: undefined };
  const repeats = max !== undefined;
  const parsed = AuthoredEdge.safeParse(isObject(value) ? rest : value);
  const name = edgeName(rest);
  const findings = repeats
    ? [
        finding(
          "NOVA903",
          at(path, "max"),
          `${name}: this release does not run loops yet - remove "max" and the way back`,
        ),
      ]
    : [];
  if (parsed.success) {
    const { from, to, condition } = parsed.data;
    const edge = { from, to, ...(condition !== undefined && { condition }) };
    return { path, ...edge, repeats, edge, findings };
  }
  const pathOf = (field?: string) => (field === undefined ? path : at(path, field));
  const fields = Object.keys(AuthoredEdge.shape);
  findings.push(...findingsOf(parsed.error.issues, { name, value, pathOf, fields, codes: {} }));
  return { path, ...ends(rest), repeats, findings };
}

function ends({ from, to }: { from?: unknown; to?: unknown }): { from?: string; to?: string } {
  return { ...(typeof from === "string" && { from }), ...(typeof to === "string" && { to }) };
}

export function edgeName({ from, to }: { from?: unknown; to?: unknown }): string {
  return `the edge from ${named(from)} to ${named(to)}`;
}

function named(id: unknown): string {
  return typeof id === "string" ? `"${id}"` : "nowhere";
}
