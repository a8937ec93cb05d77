import type { PythonProblem } from "./check-python.ts";
import { parseWithRuff } from "./ruff.ts";
import { nodesBelow, placesIn, readSyntaxTree, type SyntaxNode } from "./syntax-tree.ts";

export interface KeySet extends Pick<PythonProblem, "line" | "column"> {
  key: string;
}

/**
 * Where the code sets one of these keys, spelt out: `context["key"] = ...`; each key once. `wanted` matches a key as a
 * whole. The source is known to be valid.
 */
export async function keysSet(source: string, wanted: RegExp): Promise<KeySet[]> {
  const spelt = Array.from(source.matchAll(/\bcontext\s*\[\s*["']([^"'\\]*)["']\s*\]/g), ([, key = ""]) => key);
  if (!spelt.some((key) => wanted.test(key))) return [];
  const found = new Map<string, KeySet>();
  const placeOf = placesIn(source);
  for (const node of nodesBelow(readSyntaxTree(await parseWithRuff(source)))) {
    const key = keyOf(node);
    if (key !== undefined && wanted.test(key) && !found.has(key)) found.set(key, { key, ...placeOf(node) });
  }
  return Array.from(found.values());
}

/** The key of `context["key"]` where it is set. */
function keyOf({ type, values, children }: SyntaxNode): string | undefined {
  if (type !== "ExprSubscript" || values.ctx !== "Store") return undefined;
  const object = children.find(({ field }) => field === "value");
  const slice = children.find(({ field }) => field === "slice");
  if (object?.values.id !== 'Name("context")' || slice?.type !== "ExprStringLiteral") return undefined;
  const [text] = Array.from(nodesBelow(slice)).filter((node) => node.type === "StringLiteral");
  return /^"([^"\\]*)"$/.exec(text?.values.value ?? "")?.[1];
}
