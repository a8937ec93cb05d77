import type { ContextShape, ValueShape } from "@nova/python";
import { readFromShelf } from "./shelf.ts";
import written from "./topics.json" with { type: "json" };

/** A short text that explains to a model how to do one kind of task. */
export interface Guide {
  name: string;
  text: string;
}

interface GuideRequest {
  task: string;
  schema: ContextShape;
  /** Messages of previous attempts with tracebacks; empty for the first attempt. */
  errors: readonly string[];
}

/** Limit of guides in the first prompt, because each guide adds about 350 tokens to every prompt. */
const maxAtFirst = 3;
const maxAfterErrors = 5;

/**
 * Chooses the guides for a prompt: first those that fit the task and the schema, then those that fit errors. Guides for
 * errors are added only at the end, so that the start of the prompt stays the same and is found in the provider's
 * cache.
 */
export function guidesFor({ task, schema, errors }: GuideRequest): Guide[] {
  const said = plainText(task);
  const keys = keysOf(schema).map(plainText);
  const first = topics
    .map((topic) => ({ topic, weight: weightOf(topic, said, keys) }))
    .filter(({ weight }) => weight >= 2)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxAtFirst)
    .map(({ topic }) => topic);
  const failures = errors.map((error) => error.toLowerCase());
  const later = topics.filter((topic) => !first.includes(topic) && failures.some((error) => topic.errors.test(error)));
  return [...first, ...later].slice(0, maxAfterErrors).map(({ guide }) => readGuide(guide));
}

/**
 * Weighs a topic: 2 if the task names it, or 1 if the task hints at it, and then 1 more if a key of the schema fits it.
 * The weight is 0 for a topic without a name or hint in the task.
 */
function weightOf({ named, hinted, keys, done }: Topic, task: string, schema: readonly string[]): number {
  const byTask = named.test(task) ? 2 : hinted.test(task) ? 1 : 0;
  const has = (pattern: RegExp) => schema.some((key) => pattern.test(key));
  return byTask > 0 && keys.some(has) && !(done && has(done)) ? byTask + 1 : byTask;
}

/** Converts text to the form of the patterns: lower case, no accents, `camelCase` and `snake_case` split into words. */
export function plainText(text: string): string {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replaceAll("_", " ");
}

/** Lists every key at any depth with the type of its value: `total: number`. Examines only the first item of a list. */
function keysOf(schema: ContextShape): string[] {
  return Object.entries(schema).flatMap(([key, value]) => [`${key}: ${value.type}`, ...keysInside(value)]);
}

function keysInside({ item, members }: ValueShape): string[] {
  return [...(item ? keysInside(item) : []), ...(members ? keysOf(members) : [])];
}

/** Guides by name. In the file, a comment with its name precedes each guide. */
let guides: ReadonlyMap<string, Guide> | undefined;

function readGuides(): ReadonlyMap<string, Guide> {
  const [, ...parts] = readFromShelf("guides.md").split(/^<!-- (\w+) -->\n/m);
  const named = parts.flatMap((name, at) => (at % 2 === 0 ? [{ name, text: (parts[at + 1] ?? "").trim() }] : []));
  return new Map(named.map((guide) => [guide.name, guide]));
}

/** Reads a guide. Throws if the guide does not exist; `topics` lists all guides. */
export function readGuide(name: string): Guide {
  guides ??= readGuides();
  const guide = guides.get(name);
  if (guide) return guide;
  throw new TypeError(`there is no guide "${name}"`);
}

/** Patterns that match `plainText` in English, Spanish and German. They decide when a guide is useful. */
export interface Topic {
  guide: string;
  named: RegExp;
  hinted: RegExp;
  /** Match context keys that, together with a hint, show that the task is about the topic. */
  keys: readonly RegExp[];
  /**
   * Matches context keys which show that an earlier node has done the topic's work. A hint in the task then only refers
   * to the results of that node.
   */
  done?: RegExp;
  /** Matches lower-case errors with the topic's modules, exceptions or typical mistakes. */
  errors: RegExp;
}

/**
 * Topics of `topics.json`, which has one line of phrases per language. Their order decides between guides of equal
 * weight.
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
 * Builds a pattern for the text of a key (`name: type`). The name must contain one of the words in `names`, which are
 * separated by commas. The type must be one of `types` (`string|bytes`); absent: any type.
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
