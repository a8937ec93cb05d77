import { type ClientOptions, createClient, type NovaClient } from "@nova/client";
import { elementsOf, membersOf, RawJson, renderJson } from "@nova/engine";

/**
 * Creates a typed client that sends and receives contexts as `RawJson`. `more` names further members of answers that
 * become `RawJson`.
 */
export function createExactClient(
  at: Required<Pick<ClientOptions, "url" | "apiKey" | "fetch">>,
  more: readonly string[] = [],
): NovaClient {
  return createClient({ ...at, parse: (text) => parseAnswer(text, more), stringify: renderJson });
}

/**
 * Names of JSON members that contain user data. The client keeps the JSON text of these members, so that numbers such
 * as 12345678901234567890 and 850.0 stay exact.
 */
const exactMembers = ["context", "set", "input_context", "output_result", "output", "pattern"];
const nestingMembers = new Set(["items", "entries", "branches", "changes", "child", "outputs"]);

/** Parses an answer of the API. The contexts in it become `RawJson`. */
export function parseAnswer(text: string, more: readonly string[] = []): unknown {
  return parseWith(text, new Set([...exactMembers, ...more]));
}

function parseWith(text: string, exact: ReadonlySet<string>): unknown {
  return text.trimStart().startsWith("{") ? objectFrom(text, exact) : JSON.parse(text);
}

function objectFrom(text: string, exact: ReadonlySet<string>): object {
  return Object.fromEntries(membersOf(text).map(({ key, json }) => [key, memberFrom(key, json, exact)]));
}

function memberFrom(key: string, json: string, exact: ReadonlySet<string>): unknown {
  if (exact.has(key) && json !== "null") return new RawJson(json);
  if (!nestingMembers.has(key)) return JSON.parse(json);
  if (json.startsWith("{")) return objectFrom(json, exact);
  return json.startsWith("[") ? elementsOf(json).map((element) => parseWith(element, exact)) : JSON.parse(json);
}
