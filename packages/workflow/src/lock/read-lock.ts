import { createHash } from "node:crypto";
import { codeFileOf, LockFile, type LockRecord, lockFileName, recordOfEntry } from "./lock-file.ts";

/** A node's entry, and what is in its file: `edited` is text that is not the locked code, `missing` no text at all. */
export type ReadLock = { record: LockRecord } & (
  | { state: "locked"; code: string }
  | { state: "edited"; code: string }
  | { state: "missing" }
);

/** `problem`: the lock file is there, and nothing can be made of it; the rest of a sentence about it. */
export type ReadLockFile = { nodes: Record<string, ReadLock> } | { problem: string };

/** What a folder's files say of locked code; null where the folder has no lock file. */
export function readLockFile(files: Record<string, string>): ReadLockFile | null {
  const text = Object.hasOwn(files, lockFileName) ? files[lockFileName] : undefined;
  if (text === undefined) return null;
  const parsed = parse(text);
  if ("problem" in parsed) return parsed;
  const names = Object.keys(parsed.nodes).sort();
  const nodes = names.map((node) => [node, readEntry(node, parsed.nodes[node] as LockFile["nodes"][string], files)]);
  return { nodes: Object.fromEntries(nodes) };
}

function parse(text: string): LockFile | { problem: string } {
  if (/^(<{7}|>{7}) /m.test(text)) return { problem: "holds the marks of a merge that two sides were left of" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `is not JSON (${error.message.split("\n")[0]})` };
  }
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === "number" && format > 1) return { problem: `is of format ${format}, made by a newer NOVA` };
  const { success, data, error } = LockFile.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  return { problem: `is damaged at ${issue?.path.join(".") || "its top"} (${issue?.message})` };
}

function readEntry(node: string, entry: LockFile["nodes"][string], files: Record<string, string>): ReadLock {
  const record = recordOfEntry(entry);
  const file = codeFileOf(node);
  const text = Object.hasOwn(files, file) ? files[file] : undefined;
  if (text === undefined) return { record, state: "missing" };
  const code = variantsOf(text).find((one) => hashOf(one) === record.codeHash);
  return code === undefined ? { record, state: "edited", code: plain(text) } : { record, state: "locked", code };
}

/** Editors and git end lines in their own way: that is no edit. */
function variantsOf(text: string): string[] {
  return [text, plain(text)].flatMap((lines) => [lines, lines.replace(/\n$/, "")]);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** What the file of locked code holds. */
export function codeFileText(code: string): string {
  return code.endsWith("\n") ? code : `${code}\n`;
}

/** SHA-256 of a node's code, in hexadecimal digits. */
export function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
