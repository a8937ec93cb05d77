import type { ContextUse } from "../code/context-use.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { findOverwrites } from "../graph/overwrites.ts";
import type { Outline } from "./outline.ts";

/** Results that are lost before anything looks at them. For graphs without errors: in others it would guess. */
export function* checkOverwrites(outline: Outline, uses: ReadonlyMap<string, ContextUse>): Iterable<Finding> {
  const { nodes, byId, graph } = outline;
  const mayFail = new Set(nodes.filter((node) => node.onError !== undefined).map((node) => node.id));
  for (const { key, first, second } of findOverwrites(graph, uses, mayFail)) {
    const python = byId.get(second)?.python;
    const message = `"${second}" sets context["${key}"] before anything reads what "${first}" has put there - read it, or use another key`;
    const place = python?.file === undefined ? {} : { file: python.file, ...uses.get(second)?.placeOf(key) };
    yield finding("NOVA504", python?.path ?? "$", message, place);
  }
}
