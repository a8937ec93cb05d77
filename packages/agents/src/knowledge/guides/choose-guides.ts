import type { ContextShape, ValueShape } from "@nova/python";
import { readFromShelf } from "../shelf.ts";
import { type Topic, topics } from "./topics.ts";

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

/** A guide adds about 350 tokens to every prompt. */
const maxAtFirst = 3;
const maxAfterErrors = 5;

/**
 * Chooses the guides for a prompt: first those that fit the task and the schema, then those that fit errors. Errors add
 * guides only at the end, so that the provider's prompt cache still knows the prefix.
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

/** Weighs a topic: 2 if the task names it, 1 if the task hints at it, and 1 more if a key of the schema fits. */
function weightOf({ named, hinted, keys, done }: Topic, task: string, schema: readonly string[]): number {
  const byTask = named.test(task) ? 2 : hinted.test(task) ? 1 : 0;
  const has = (pattern: RegExp) => schema.some((key) => pattern.test(key));
  return byTask > 0 && keys.some(has) && !(done && has(done)) ? byTask + 1 : byTask;
}

/**
 * Converts text to the form of the topics' patterns: lower case, no accents, `camelCase` and `snake_case` split into
 * words.
 */
export function plainText(text: string): string {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replaceAll("_", " ");
}

/**
 * Lists every key at any depth with the type of its value, such as `total: number`. Lists count with their first item.
 */
function keysOf(schema: ContextShape): string[] {
  return Object.entries(schema).flatMap(([key, value]) => [`${key}: ${value.type}`, ...keysInside(value)]);
}

function keysInside({ item, members }: ValueShape): string[] {
  return [...(item ? keysInside(item) : []), ...(members ? keysOf(members) : [])];
}

const read = new Map<string, Guide>();

/** Reads a guide. Throws if it does not exist; `topics` lists all guides. */
export function readGuide(name: string): Guide {
  const known = read.get(name);
  if (known) return known;
  const guide = { name, text: readFromShelf(`guides/${name}.md`).trim() };
  read.set(name, guide);
  return guide;
}
