import type { ValueShape } from "@nova/python";

/**
 * What matches any of some phrases, separated by commas, in `plainText`. `*` stands for the rest (or the beginning) of a
 * word, `…` for what lies between two words of a sentence: `send* … mail*`.
 */
export function words(phrases: string): RegExp {
  return new RegExp(`\\b(?:${alternatives(phrases)})\\b`);
}

/** Keys (`name: type`) one of whose words is among `names`; of any type where none is given. */
export function key(names: string, ...types: ValueShape["type"][]): RegExp {
  return new RegExp(`\\b(?:${alternatives(names)})\\b[^:]*: (?:${types.join("|") || "\\w+"})$`);
}

function alternatives(phrases: string): string {
  return phrases
    .split(",")
    .map((phrase) => phrase.trim().replace(/\s+/g, " ").replaceAll("*", "\\w*").replaceAll(" … ", "\\b[^.;]{0,50}\\b"))
    .filter(Boolean)
    .join("|");
}
