import { contextUse } from "../code/context-use.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { findOverwrites } from "../graph/overwrites.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Results that are lost before anything looks at them. For graphs without errors: in others it would guess. */
export function* checkOverwrites(outlines: readonly Outline[]): Iterable<Finding> {
  // `outputs` shows what a node has set even after another one has set it again.
  if (outlines.some(({ nodes }) => nodes.some((node) => /\boutputs\b/.test(codeOf(node))))) return;
  for (const outline of outlines) yield* overwritesIn(outline);
}

function* overwritesIn({ nodes, byId, graph }: Outline): Iterable<Finding> {
  const coded = nodes.filter((node) => node.python !== undefined);
  const uses = new Map(coded.map((node) => [node.id, contextUse(codeOf(node))]));
  const mayFail = new Set(nodes.filter((node) => node.onError !== undefined).map((node) => node.id));
  for (const { key, first, second } of findOverwrites(graph, uses, mayFail)) {
    const python = byId.get(second)?.python;
    const message = `"${second}" sets context["${key}"] before anything reads what "${first}" has put there - read it, or use another key`;
    const place = python?.file === undefined ? {} : { file: python.file, ...uses.get(second)?.placeOf(key) };
    yield finding("NOVA504", python?.path ?? "$", message, place);
  }
}

function codeOf(node: NamedNode): string {
  return node.python?.code ?? "";
}
