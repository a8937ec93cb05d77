import written from "./topics.json" with { type: "json" };

/** When a guide is worth its tokens. Tasks and keys are `plainText`: lower case, no accents; English, Spanish, German. */
export interface Topic {
  guide: string;
  /** A task that says one of these is about the topic. */
  named: RegExp;
  /** A task that says one of these may be about it. */
  hinted: RegExp;
  /** Keys of the context that, with a hint, make it one. */
  keys: readonly RegExp[];
  /** Keys that show that an earlier node has done it: a hint means their values then. */
  done?: RegExp;
  /** Errors (in lower case) that name its modules, its exceptions or its mistakes. */
  errors: RegExp;
}

/** As `topics.json` has them, in the order in which equally good guides are taken. Phrases come a line per language. */
export const topics: readonly Topic[] = written.map(({ guide, named, hinted, keys, done, errors }) => ({
  guide,
  ...{ named: phrasePattern(named.join()), hinted: phrasePattern(hinted.join()), errors: phrasePattern(errors.join()) },
  keys: keys.map(({ names, types }: { names: string; types?: string }) => keyPattern(names, types)),
  ...(done && { done: keyPattern(done.names, done.types) }),
}));

/**
 * What matches any of some phrases, separated by commas, in `plainText`. `*` stands for the rest (or the beginning) of a
 * word, `…` for what lies between two words of a sentence: `send* … mail*`.
 */
export function phrasePattern(phrases: string): RegExp {
  return new RegExp(`\\b(?:${alternatives(phrases)})\\b`);
}

/** Keys (`name: type`) one of whose words is among `names`; `types`: `string|bytes`, of any type where none is given. */
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
