import { contextUse } from "../code/context-use.ts";
import type { Finding } from "../findings/finding.ts";
import { checkBranchKeys } from "./branch-keys.ts";
import type { NamedNode, Outline } from "./outline.ts";
import { checkOverwrites } from "./overwrites.ts";

/** What can be said about the keys that nodes set. For definitions without errors: in others it would guess. */
export function* checkKeys(outlines: readonly Outline[]): Iterable<Finding> {
  // `outputs` shows what a node has set even after another one has set it again.
  const seesOlder = outlines.some(({ nodes }) =>
    nodes.some((node) => /\boutputs\b/.test(codeOf(node)) || isPrompt(node)),
  );
  for (const outline of outlines) {
    const coded = outline.nodes.filter((node) => node.python !== undefined);
    const uses = new Map(coded.map((node) => [node.id, contextUse(codeOf(node))]));
    if (!seesOlder) yield* checkOverwrites(outline, uses);
    yield* checkBranchKeys(outline, uses);
  }
}

/** What a model will write is not known. */
function isPrompt({ node }: NamedNode): boolean {
  return node !== undefined && "executor" in node && node.executor.kind === "prompt";
}

function codeOf(node: NamedNode): string {
  return node.python?.code ?? "";
}
