import type { ContextShape } from "@nova/python";
import type { Guide } from "../../parts.ts";
import { readGuide } from "./guide.ts";
import { keysOf } from "./keys.ts";
import { plainText } from "./plain-text.ts";
import { type Topic, topics } from "./topics.ts";

export interface GuideRequest {
  task: string;
  schema: ContextShape;
  /** Messages of the attempts before, tracebacks included; none for a first attempt. */
  errors: readonly string[];
}

/** Each costs some 350 tokens of every prompt. */
const mostAtFirst = 3;
const mostAfterErrors = 5;

/**
 * The guides for a prompt: those that task and schema speak of, then those that errors speak of. The first ones stay where
 * they are when errors add more, so that the provider's prompt cache keeps the prefix.
 */
export function guidesFor({ task, schema, errors }: GuideRequest): Guide[] {
  const said = plainText(task);
  const keys = keysOf(schema).map(plainText);
  const first = topics
    .map((topic) => ({ topic, weight: weightOf(topic, said, keys) }))
    .filter(({ weight }) => weight >= 2)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, mostAtFirst)
    .map(({ topic }) => topic);
  const failures = errors.map((error) => error.toLowerCase());
  const later = topics.filter((topic) => !first.includes(topic) && failures.some((error) => topic.errors.test(error)));
  return [...first, ...later].slice(0, mostAfterErrors).map(({ guide }) => readGuide(guide));
}

/** What is named is a reason; a hint is half of one, and a key the other half. */
function weightOf({ named, hinted, keys, done }: Topic, task: string, schema: readonly string[]): number {
  const byTask = named.test(task) ? 2 : hinted.test(task) ? 1 : 0;
  const has = (pattern: RegExp) => schema.some((key) => pattern.test(key));
  return byTask > 0 && keys.some(has) && !(done && has(done)) ? byTask + 1 : byTask;
}
