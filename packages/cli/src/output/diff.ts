import { formatDuration, formatUsd } from "@nova/client";
import { type Difference, type NodeDiff, RawJson } from "@nova/engine";
import { styled } from "./terminal.ts";
import { cell, shorten, tableLines } from "./text.ts";

const paths: Record<NodeDiff["path"], string> = { both: "", only_a: "only in a", only_b: "only in b" };

/**
 * Formats a table of the nodes that differ, and then the differences of their contexts. Leaves out nodes that differ
 * only in their time.
 */
export function diffLines(nodes: readonly NodeDiff[]): string[] {
  const differing = nodes.filter(isOther);
  if (differing.length === 0) return [`the same: ${nodes.length} nodes`];
  const others = nodes.length - differing.length;
  return [
    ...tableLines(["node", "path", "definition", "code", "cost", "time", "context"], differing.map(rowOf)),
    ...differing.flatMap(({ place, path, context }) =>
      path === "both" && context.length > 0
        ? ["", styled("bold", place), ...differenceLines(context.map(textsOf))]
        : [],
    ),
    ...(others > 0 ? ["", styled("dim", `the same: ${others} other nodes`)] : []),
  ];
}

function isOther({ path, definition, code, context, cost }: NodeDiff): boolean {
  const isSame = path === "both" && definition.same && code.same && context.length === 0;
  return !isSame || cost.was?.cost_usd !== cost.is?.cost_usd;
}

function rowOf({ place, path, definition, code, context, cost: { was, is } }: NodeDiff): string[] {
  const changed = ({ same }: NodeDiff["code"]) => (same || path !== "both" ? "" : "different");
  const both = (text: (cost: NonNullable<typeof was>) => string) =>
    Array.from(new Set([was, is].flatMap((cost) => (cost ? [text(cost)] : [])))).join(" → ");
  const usd = both(({ cost_usd }) => (cost_usd === 0 ? "" : formatUsd(cost_usd)));
  const time = both(({ execution_time_ms: ms }) => (ms === 0 ? "" : formatDuration(ms)));
  const keys = cell(context.map(({ key }) => key).join(" "));
  return [place, paths[path], changed(definition), changed(code), usd, time, keys];
}

function textsOf({ key, was, is }: NodeDiff["context"][number]): Difference {
  return { key, recorded: was?.text ?? null, now: is?.text ?? null };
}

/**
 * Returns lines with the recorded and the current value of each key. Of a long value, they contain only the text around
 * the first difference.
 */
export function differenceLines(differences: readonly Difference[]): string[] {
  return differences.flatMap(({ key, recorded, now }) => {
    const [was, is] = aroundFirstDifference(recorded ?? notSet, now ?? notSet);
    return [
      `    ${styled("cyan", key)}`,
      `      ${styled("red", `- ${shorten(was)}`)}`,
      `      ${styled("green", `+ ${shorten(is)}`)}`,
    ];
  });
}

/** The text that commands print in place of a value that does not exist. */
export const notSet = "(not set)";

/**
 * Returns a value of a difference in the form that `renderJson` prints with exact digits; null if there is no value.
 */
export function rawJson(json: string | null): RawJson | null {
  return json === null ? null : new RawJson(json);
}

const shownBefore = 30;

/** Cuts the common start of two long texts, so that their first difference fits on a line of the terminal. */
function aroundFirstDifference(was: string, is: string): [string, string] {
  if (shorten(was) === was && shorten(is) === is) return [was, is];
  let at = 0;
  while (at < was.length && was[at] === is[at]) at++;
  // The function cuts both texts at the same offset. The offset must not split a character.
  const from = at > shownBefore ? at - shownBefore : 0;
  const start = /^[\uDC00-\uDFFF]/.test(was.slice(from)) ? from - 1 : from;
  return start <= 0 ? [was, is] : [`…${was.slice(start)}`, `…${is.slice(start)}`];
}
