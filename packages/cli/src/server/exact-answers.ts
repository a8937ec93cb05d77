import { elementsOf, membersOf, RawJson } from "@nova/engine";

/** Members that hold what users sent: their text is handed on, so that 12345678901234567890 and 850.0 stay as they are. */
const exact = new Set(["context", "set", "input_context", "output_result", "pattern"]);

/** Members in which there are such members. */
const around = new Set(["items", "entries", "branches", "changes", "child"]);

/** An answer of the API whose contexts are `RawJson`. */
export function parseAnswer(text: string): unknown {
  return text.trimStart().startsWith("{") ? objectFrom(text) : JSON.parse(text);
}

function objectFrom(text: string): object {
  return Object.fromEntries(membersOf(text).map(({ key, json }) => [key, memberFrom(key, json)]));
}

function memberFrom(key: string, json: string): unknown {
  if (exact.has(key) && json !== "null") return new RawJson(json);
  if (!around.has(key)) return JSON.parse(json);
  if (json.startsWith("{")) return objectFrom(json);
  return json.startsWith("[") ? elementsOf(json).map(parseAnswer) : JSON.parse(json);
}
