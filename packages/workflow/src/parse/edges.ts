import { AuthoredEdge } from "../authored/edge.ts";
import { at } from "../findings/path.ts";
import { isObject } from "../json/loose.ts";
import { findingsOf } from "./issues.ts";
import type { ReadEdge } from "./read.ts";

export function readEdge(value: unknown, path: string): ReadEdge {
  const loose = isObject(value) ? value : {};
  const repeats = loose.max !== undefined;
  const parsed = AuthoredEdge.safeParse(value);
  if (parsed.success) {
    const { from, to, condition, max } = parsed.data;
    const edge = { from, to, ...(condition !== undefined && { condition }), ...(max !== undefined && { max }) };
    return { path, ...edge, repeats, edge, findings: [] };
  }
  const pathOf = (field?: string) => (field === undefined ? path : at(path, field));
  const subject = { name: edgeName(loose), value, pathOf, schema: AuthoredEdge, codes: {} };
  return { path, ...ends(loose), repeats, findings: findingsOf(parsed.error.issues, subject) };
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
