import type { Node } from "@nova/workflow";

/** A long chain must not fill the prompt with its names. */
const [maxNodes, maxKeys, maxCharacters] = [50, 20, 6_000];

/** Describes the nodes before for a model: their names and ids, and the keys of their results. */
export function surroundingsText(
  { id }: Pick<Node, "id">,
  mapping: Readonly<Record<string, string>>,
  keysOf: (node: string) => string[],
  mask: (text: string) => string,
): string {
  const others = Object.entries(mapping).filter(([, other]) => other !== id);
  if (others.length === 0) return "";
  const shown = others.slice(-maxNodes);
  const left = others.length - shown.length;
  const names = JSON.stringify(Object.fromEntries(shown));
  const keys = shown.map(([, other]) => {
    const own = keysOf(other).slice(0, maxKeys);
    return `id:${other}${own.length === 0 ? "" : ` (${own.map((key) => JSON.stringify(key)).join(", ")})`}`;
  });
  const text = [
    `You have access to a graph of connected nodes with the following name-to-ID mapping: ${names}${left > 0 ? ` and ${left} more` : ""}`,
    `You have access to information from the following nodes: ${keys.join(", ")}.`,
    "Where the prompt refers to a node, what it has brought stands in the place of the reference. Use this information to inform your response.",
  ].join("\n");
  const masked = mask(text);
  return masked.length <= maxCharacters ? masked : `${masked.slice(0, maxCharacters).toWellFormed()}...`;
}
