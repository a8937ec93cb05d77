import { onlyPath, timeOf, type WaitNode } from "@nova/workflow";
import type { Context } from "../../context/context.ts";
import { cutMark } from "../../secrets/redactor.ts";

export type Until = { ms: number } | { problem: string };

/** Step Functions: an execution lives a year. */
const longestMs = 366 * 24 * 3600 * 1000;

/** When a wait ends, for a turn that began at `sinceMs`: every delivery comes to the same. */
export function untilOf(node: WaitNode, input: Context, sinceMs: number): Until {
  if (node.for.kind === "seconds") return { ms: sinceMs + node.for.seconds * 1000 };
  if (node.for.kind === "event") return { problem: "it waits for an event and has no time" };
  const path = onlyPath(node.for.until);
  const json = path === undefined ? JSON.stringify(node.for.until) : input.get(path);
  if (json === undefined)
    return { problem: `it waits until {{${path}}}, which the context does not have - set it before` };
  return momentOf(json, sinceMs);
}

function momentOf(json: string, sinceMs: number): Until {
  const value: unknown = JSON.parse(json);
  const ms = typeof value === "string" ? timeOf(value) : undefined;
  if (ms === undefined) {
    const shown = json.length > 80 ? `${json.slice(0, 75)}${cutMark}` : json;
    return { problem: `${shown} is no time to wait until - write it with its zone, as "2026-01-31T12:00:00Z"` };
  }
  if (ms - sinceMs > longestMs) return { problem: `${json} is more than a year away - a run lives a year at most` };
  return { ms };
}
