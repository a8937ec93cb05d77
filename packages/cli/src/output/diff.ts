import type { Difference, NodeDiff } from "@nova/engine";
import { tableLines } from "./table.ts";
import { styled } from "./terminal.ts";
import { cell, duration, shortened } from "./text.ts";

const paths: Record<NodeDiff["path"], string> = { both: "", only_a: "only in a", only_b: "only in b" };

/** Nodes that differ as a table, then what they set; times alone make no difference. */
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
  const usd = both(({ cost_usd }) => (cost_usd === 0 ? "" : `$${cost_usd.toFixed(4)}`));
  const time = both(({ execution_time_ms: ms }) => (ms === 0 ? "" : duration(ms)));
  const keys = cell(context.map(({ key }) => key).join(" "));
  return [place, paths[path], changed(definition), changed(code), usd, time, keys];
}

function textsOf({ key, was, is }: NodeDiff["context"][number]): Difference {
  return { key, recorded: was?.text ?? null, now: is?.text ?? null };
}

/** Recorded and current value of each key; of long values the part around their first difference. */
export function differenceLines(differences: readonly Difference[]): string[] {
  return differences.flatMap(({ key, recorded, now }) => {
    const [was, is] = aroundFirstDifference(recorded ?? "(not set)", now ?? "(not set)");
    return [
      `    ${styled("cyan", key)}`,
      `      ${styled("red", `- ${shortened(was)}`)}`,
      `      ${styled("green", `+ ${shortened(is)}`)}`,
    ];
  });
}

const shownBefore = 30;

/** Cuts the beginning that two texts share, if their difference would be cut off as the end of a line. */
function aroundFirstDifference(was: string, is: string): [string, string] {
  if (shortened(was) === was && shortened(is) === is) return [was, is];
  let at = 0;
  while (at < was.length && was[at] === is[at]) at++;
  // Both texts are cut at one place, which must not split a character.
  const from = at > shownBefore ? at - shownBefore : 0;
  const start = /^[\uDC00-\uDFFF]/.test(was.slice(from)) ? from - 1 : from;
  return start <= 0 ? [was, is] : [`…${was.slice(start)}`, `…${is.slice(start)}`];
}
