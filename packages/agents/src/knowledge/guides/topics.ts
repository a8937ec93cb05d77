import written from "./topics.json" with { type: "json" };

/** Patterns that decide when a guide is useful. They match `plainText` in English, Spanish and German. */
export interface Topic {
  guide: string;
  /** Matches tasks that are about the topic. */
  named: RegExp;
  /** Matches tasks that may be about the topic. */
  hinted: RegExp;
  /** Match context keys that, together with a hint, show that the task is about the topic. */
  keys: readonly RegExp[];
  /** Matches keys which show that an earlier node has done the work, so that a hint refers to its results. */
  done?: RegExp;
  /** Matches lower-case errors with the topic's modules, exceptions or typical mistakes. */
  errors: RegExp;
}

/**
 * Topics from `topics.json`, which has one line of phrases per language. Their order decides between equally good
 * guides.
 */
export const topics: readonly Topic[] = written.map(({ guide, named, hinted, keys, done, errors }) => ({
  guide,
  named: phrasePattern(named.join()),
  hinted: phrasePattern(hinted.join()),
  errors: phrasePattern(errors.join()),
  keys: keys.map(({ names, types }: { names: string; types?: string }) => keyPattern(names, types)),
  ...(done && { done: keyPattern(done.names, done.types) }),
}));

/**
 * Builds a pattern that matches any of the comma-separated phrases in `plainText`. `*` stands for the rest or the start
 * of a word, and `…` for other words in the same sentence: `send* … mail*`.
 */
export function phrasePattern(phrases: string): RegExp {
  return new RegExp(`\\b(?:${alternatives(phrases)})\\b`);
}

/**
 * Builds a pattern for keys (`name: type`) that contain a word of `names`, with one of `types` (`string|bytes`) or any
 * type.
 */
export function keyPattern(names: string, types = "\\w+"): RegExp {
  return new RegExp(`\\b(?:${alternatives(names)})\\b[^:]*: (?:${types})$`);
}

function alternatives(phrases: string): string {
  return phrases
    .split(",")
    .map((phrase) => phrase.trim().replace(/\s+/g, " ").replaceAll("*", "\\w*").replaceAll(" … ", "\\b[^.;]{0,50}\\b"))
    .filter(Boolean)
    .join("|");
}
