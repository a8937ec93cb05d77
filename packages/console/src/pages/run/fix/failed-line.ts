import { type ChainEntry, findFailedLine } from "@nova/client";
import { findMember, readMembers } from "../../../json/raw.ts";

/** Matches `context["key"]` and `context.get("key")`, but not a key to which the line assigns a value. */
const readKey = /context(?:\[|\.get\()\s*(?:"([^"\n]+)"|'([^'\n]+)')(?!\s*\]\s*=(?!=))/g;
const maxKeys = 20;

/**
 * Returns the number and the text of the failed line, and the keys of the context that the line uses. Each key has its
 * value as JSON, or undefined if the context does not have the key. `context` is the JSON text of the node's context.
 * Returns undefined if the traceback names no line, or if the code does not have this line.
 */
export function describeFailure(
  { code_executed: code, traceback }: Pick<ChainEntry, "code_executed" | "traceback">,
  context: string,
) {
  const line = findFailedLine(traceback);
  const lines = (code ?? "").split("\n");
  const source = line === null ? undefined : lines[line - 1];
  if (line === null || source === undefined || source.trim() === "") return undefined;
  const members = readMembers(context);
  const direct = new Set(keysIn(source));
  const values = Array.from(new Set([...direct, ...keysOfVariables(lines, line - 1)]))
    .map((key) => ({ key, text: findMemberOf(members, key) }))
    .filter(({ key, text }) => text !== undefined || direct.has(key));
  return { line, source: source.trim(), values: values.slice(0, maxKeys) };
}

function keysIn(source: string): string[] {
  return Array.from(source.matchAll(readKey), ([, double, single]) => double ?? single ?? "");
}

/** Lists the keys of the context that earlier lines read to set the variables in a line. */
function keysOfVariables(lines: readonly string[], at: number, seen = new Set<number>()): string[] {
  const names = (lines[at] ?? "").replaceAll(quoted, "").match(variable) ?? [];
  return names.flatMap((name) => {
    const sets = new RegExp(`^\\s*(?:for\\s+)?(?:\\w+,\\s*)*${name}(?:,\\s*\\w+)*\\s*(?::[^=]*)?(?:=(?!=)|in\\b)`);
    const above = lines.slice(0, at).findLastIndex((one) => sets.test(one));
    if (above < 0 || seen.has(above)) return [];
    seen.add(above);
    return [...keysIn(lines[above] ?? ""), ...keysOfVariables(lines, above, seen)];
  });
}

const quoted = /"[^"\n]*"|'[^'\n]*'/g;
const variable = /(?<![.\w])[a-z_]\w*/gi;

/**
 * Returns the value of a key as JSON text. The key is a member of the context, or a dot path such as `email.subject`.
 */
function findMemberOf(members: ReadonlyMap<string, string>, key: string): string | undefined {
  const own = members.get(key);
  if (own !== undefined) return own;
  const [first = "", ...rest] = key.split(".");
  return rest.reduce<string | undefined>(
    (value, step) => (value?.trimStart().startsWith("{") ? findMember(value, step) : undefined),
    members.get(first),
  );
}

/** Replaces values, numbers and ids in a message, so that failures with different values count as one error. */
export function normalizeMessage(message: string): string {
  return message.replaceAll(/"[^"\n]*"|'[^'\n]*'|\w*\d\w*(?:[.-]\w*\d\w*)*/g, "…");
}
