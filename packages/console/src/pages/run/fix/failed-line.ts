import { type ChainEntry, findFailedLine } from "@nova/client";
import { findMember, readMembers } from "../../../json/raw.ts";

export interface FailedLine {
  line: number;
  source: string;
  /** The keys that the line reads, each with its value as JSON; undefined if the context has no such key. */
  values: { key: string; text: string | undefined }[];
}

/** The two ways in which code reads a key of the context. A key to which the line assigns a value is not read. */
const readKey = /context(?:\[|\.get\()\s*(?:"([^"\n]+)"|'([^'\n]+)')(?!\s*\]\s*=(?!=))/g;
const maxKeys = 20;

/** Describes the failed line. `context` is the JSON text of the context that the node had. */
export function describeFailure(
  { code_executed: code, traceback }: Pick<ChainEntry, "code_executed" | "traceback">,
  context: string,
): FailedLine | undefined {
  const line = findFailedLine(traceback);
  const source = line === null ? undefined : (code ?? "").split("\n")[line - 1];
  if (line === null || source === undefined || source.trim() === "") return undefined;
  const members = readMembers(context);
  const keys = new Set(Array.from(source.matchAll(readKey), ([, double, single]) => double ?? single ?? ""));
  const values = Array.from(keys)
    .slice(0, maxKeys)
    .map((key) => ({ key, text: findMemberOf(members, key) }));
  return { line, source: source.trim(), values };
}

/** Finds a key as code names it: an own key, or a dot path such as `email.subject`. */
function findMemberOf(members: ReadonlyMap<string, string>, key: string): string | undefined {
  const own = members.get(key);
  if (own !== undefined) return own;
  const [first = "", ...rest] = key.split(".");
  const start = members.get(first);
  return rest.reduce<string | undefined>(
    (value, step) => (value?.trimStart().startsWith("{") ? findMember(value, step) : undefined),
    rest.length > 0 ? start : undefined,
  );
}

/** Replaces values, numbers and ids in a message, so that failures with different values count as one error. */
export function normalizeMessage(message: string): string {
  return message.replaceAll(/"[^"\n]*"|'[^'\n]*'|\w*\d\w*(?:[.-]\w*\d\w*)*/g, "…");
}
