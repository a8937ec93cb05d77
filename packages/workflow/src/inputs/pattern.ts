import { RE2JS } from "re2js";

/** The pattern of an e-mail address that follows RFC 5322 to the letter has about 400. */
const maxPatternCharacters = 1_000;

/** A pattern of a schema that is not used, with the reason and the way out. */
export class PatternRefused extends Error {
  override name = "PatternRefused";
}

interface Pattern {
  test(text: string): boolean;
  /** ajv knows equal patterns by it. */
  toString(): string;
}

/** RE2 reads it as the letter k. */
const namedBackreference = /(?<!\\)(?:\\\\)*\\k</;

/**
 * A pattern of ECMAScript as RE2 runs it: in time linear in the text, whatever the pattern. Throws `PatternRefused` for
 * the few that RE2 has no form of: backreferences and lookaround.
 */
export function linearPattern(pattern: string): Pattern {
  const name = JSON.stringify(pattern.slice(0, 60));
  if (pattern.length > maxPatternCharacters) {
    const size = `the pattern ${name}... has ${pattern.length} characters`;
    throw new PatternRefused(`${size}, at most ${maxPatternCharacters} are taken - divide it with allOf`);
  }
  try {
    new RegExp(pattern, "u");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^.*: /s, "") : String(cause);
    throw new PatternRefused(`the pattern ${name} is no regular expression: ${reason} - correct it`, { cause });
  }
  return re2Of(pattern, name);
}

function re2Of(pattern: string, name: string): Pattern {
  const wayOut = "write it without backreferences, lookahead and lookbehind, and with at most 1,000 repetitions";
  const refusal = `RE2, which runs patterns in linear time, cannot run the pattern ${name} - ${wayOut}`;
  if (namedBackreference.test(pattern)) throw new PatternRefused(refusal);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => compiled.test(text), toString: () => pattern };
  } catch (cause) {
    throw new PatternRefused(refusal, { cause });
  }
}

/** The same; a pattern that an earlier release published, and RE2 cannot run, stays what it was. */
export function publishedPattern(pattern: string): Pattern {
  try {
    return linearPattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    return new RegExp(pattern, "u");
  }
}
