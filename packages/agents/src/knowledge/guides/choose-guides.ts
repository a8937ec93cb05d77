import type { ContextShape, ValueShape } from "@nova/python";
import { readFromShelf } from "../shelf.ts";
import { type Topic, topics } from "./topics.ts";

/** A short text on how something is done here. */
export interface Guide {
  name: string;
  text: string;
}

interface GuideRequest {
  task: string;
  schema: ContextShape;
  /** Messages of the attempts before, tracebacks included; none for a first attempt. */
  errors: readonly string[];
}

/** Each costs some 350 tokens of every prompt. */
const maxAtFirst = 3;
const maxAfterErrors = 5;

/**
 * The guides for a prompt: first those that fit the task and the schema, then those that fit errors. Errors only add
 * guides at the end, so the provider's prompt cache keeps the prefix.
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

/** A topic that the task names counts 2. One that it hints at counts 1, and a fitting key of the schema adds 1. */
function weightOf({ named, hinted, keys, done }: Topic, task: string, schema: readonly string[]): number {
  const byTask = named.test(task) ? 2 : hinted.test(task) ? 1 : 0;
  const has = (pattern: RegExp) => schema.some((key) => pattern.test(key));
  return byTask > 0 && keys.some(has) && !(done && has(done)) ? byTask + 1 : byTask;
}

/** Lower case, without accents, `camelCase` and `snake_case` as words: what the topics' patterns are written for. */
export function plainText(text: string): string {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replaceAll("_", " ");
}

/** Every key at any depth with the type of its value, as `invoice.pdf: bytes`; lists by their first item. */
function keysOf(schema: ContextShape): string[] {
  return Object.entries(schema).flatMap(([key, value]) => [`${key}: ${value.type}`, ...keysInside(value)]);
}

function keysInside({ item, members }: ValueShape): string[] {
  return [...(item ? keysInside(item) : []), ...(members ? keysOf(members) : [])];
}

const read = new Map<string, Guide>();

/** @throws where there is no such guide: `topics` lists them. */
export function readGuide(name: string): Guide {
  const known = read.get(name);
  if (known) return known;
  const guide = { name, text: readFromShelf(`guides/${name}.md`).trim() };
  read.set(name, guide);
  return guide;
}
