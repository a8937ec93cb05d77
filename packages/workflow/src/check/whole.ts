import type { Finding } from "../findings/finding.ts";
import { checkDecisions } from "./decisions.ts";
import { checkNames, checkPlainEdges } from "./edges.ts";
import { checkEnds } from "./ends.ts";
import { checkIds } from "./ids.ts";
import { checkOnError } from "./on-error.ts";
import type { Outline } from "./outline.ts";
import { checkWays } from "./ways.ts";

const checks = [checkEnds, checkNames, checkPlainEdges, checkDecisions, checkOnError, checkWays];

/** Every question about the graph as a whole; one node's own fields were checked when it was read. */
export function checkWhole(outlines: readonly Outline[]): Finding[] {
  return [...checkIds(outlines), ...outlines.flatMap((outline) => checks.flatMap((check) => [...check(outline)]))];
}
