import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import type { Outline } from "./outline.ts";

/** Ids that are one, or that a reader or a disk would take for one; the bodies of maps share them with the workflow. */
export function* checkIds(outlines: readonly Outline[]): Iterable<Finding> {
  const byShape = new Map<string, string>();
  const seen = new Set<string>();
  for (const { id, path } of outlines.flatMap(({ nodes }) => nodes)) {
    const shape = id.toLowerCase().replaceAll("_", "-");
    const other = byShape.get(shape);
    if (seen.has(id)) {
      yield finding("NOVA111", at(path, "id"), `two nodes have the id "${id}" - rename one of them`);
    } else if (other !== undefined) {
      yield finding(
        "NOVA112",
        at(path, "id"),
        `the ids "${other}" and "${id}" differ only in case, - or _ - rename one of them`,
      );
    } else byShape.set(shape, id);
    seen.add(id);
  }
}
