import type { Finding, FindingCode } from "../findings/finding.ts";
import { checkDecisions } from "./decisions.ts";
import { checkIds, checkNames, checkOnError, checkPlainEdges } from "./edges.ts";
import { checkBodies, checkDirections, checkPresence, checkWays } from "./ends.ts";
import { checkForks, checkMerges } from "./forks.ts";
import { checkLoopBranches, checkLoops } from "./loops.ts";
import type { Outline } from "./outline.ts";

const checks = [
  checkPresence,
  checkDirections,
  checkBodies,
  checkNames,
  checkPlainEdges,
  checkDecisions,
  checkOnError,
  checkWays,
  checkLoops,
  checkMerges,
];

/** With one of these findings, the join of the branches is unknown. So branches are checked only without them. */
const shapeless: ReadonlySet<FindingCode> = new Set([
  ...(["NOVA106", "NOVA113", "NOVA202", "NOVA204", "NOVA205", "NOVA206", "NOVA210", "NOVA211"] as const),
  ...(["NOVA231", "NOVA232", "NOVA233", "NOVA241", "NOVA244", "NOVA301"] as const),
]);

/**
 * Runs every check of the graph as a whole. The fields of single nodes were checked while reading. In a part of a
 * draft, only map bodies are checked for branches and joins: the nodes before the part have run in any order.
 */
export function checkWhole(outlines: readonly Outline[], { isPart }: { isPart: boolean }): Finding[] {
  return [...checkIds(outlines), ...outlines.flatMap((outline) => checkOne(outline, isPart))];
}

function checkOne(outline: Outline, isPart: boolean): Finding[] {
  const findings = checks.flatMap((check) => [...check(outline)]);
  if (isPart && outline.map === undefined) return findings;
  const read = [...outline.nodes, ...outline.edges].flatMap((one) => one.findings);
  if ([...findings, ...read].some(({ code }) => shapeless.has(code))) return findings;
  return [...findings, ...checkForks(outline), ...checkLoopBranches(outline)];
}
