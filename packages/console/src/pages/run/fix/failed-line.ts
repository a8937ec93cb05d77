import { type ChainEntry, findFailedLine } from "@nova/client";
import { findMember, readMembers } from "../../../json/raw.ts";

/** The two ways in which code reads a key of the context. A key to which the line assigns a value is not read. */
const readKey = /context(?:\[|\.get\()\s*(?:"([^"\n]+)"|'([^'\n]+)')(?!\s*\]\s*=(?!=))/g;
const maxKeys = 20;

/**
 * Describes the failed line with the keys that it reads, each with its value as JSON; undefined if the context has no
 * such key. `context` is the JSON text of the context that the node had.
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

/** Lists the keys from which code above a line sets the variables that the line uses. */
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

/** Finds a key as code names it: an own key, or a dot path such as `email.subject`. */
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
