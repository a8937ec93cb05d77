import { createHash } from "node:crypto";
import type { LockedCode, LockRecord } from "./lock-file.ts";
import { analysisFileOf, codeFileOf, LockFile, lockFileName, recordOfEntry } from "./lock-file.ts";

/** A node's entry, and the texts of its files. `analysis` is present if the code needs one. */
export type ReadLock = { record: LockRecord } & (
  | { state: "locked"; code: string; analysis?: string }
  /** `file` differs from the locked text. */
  | { state: "edited"; code: string; analysis?: string; file: string }
  /** `file` does not exist; `edited` names the other file if it exists and differs. */
  | { state: "missing"; file: string; edited?: string }
);

/** `problem` completes a sentence about a lock file that cannot be read. */
export type ReadLockFile = { nodes: Record<string, ReadLock> } | { problem: string };

/** Reads the locked code in a folder's files; null if the folder has no lock file. */
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
  if (/^(<{7}|>{7}) /m.test(text)) return { problem: "contains the markers of a merge conflict" };
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
  const { codeHash, analysisHash } = record;
  const code = readCode(files, codeFileOf(node), (hash) => bothHash(hash, analysisHash) === codeHash);
  const analysis = readCode(files, analysisFileOf(node), (hash) => hash === analysisHash);
  const all = analysisHash === undefined ? [code] : [code, analysis];
  const edited = all.find(({ state }) => state === "edited")?.file;
  const missing = all.find(({ state }) => state === "missing");
  if (missing) return { record, state: "missing", file: missing.file, ...(edited !== undefined && { edited }) };
  const texts = { code: code.text, ...(analysis.state !== "missing" && { analysis: analysis.text }) };
  if (edited !== undefined) return { record, state: "edited", ...texts, file: edited };
  return { record, state: "locked", ...(analysisHash === undefined ? { code: code.text } : texts) };
}

function readCode(files: Record<string, string>, file: string, isLocked: (hash: string) => boolean) {
  const text = Object.hasOwn(files, file) ? files[file] : undefined;
  if (text === undefined) return { file, state: "missing", text: "" } as const;
  const locked = variantsOf(text).find((one) => isLocked(hashOf(one)));
  if (locked === undefined) return { file, state: "edited", text: normaliseLines(text) } as const;
  return { file, state: "locked", text: locked } as const;
}

export function lockedCodeOf({ record, code, analysis }: ReadLock & { state: "locked" }): LockedCode {
  return { ...record, code, ...(analysis !== undefined && { analysis }) };
}

/** Returns the text with other line endings: editors and git change them, and that is no edit. */
function variantsOf(text: string): string[] {
  return [text, normaliseLines(text)].flatMap((lines) => [lines, lines.replace(/\n$/, "")]);
}

function normaliseLines(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** The content of a locked code file. */
export function codeFileText(code: string): string {
  return code.endsWith("\n") ? code : `${code}\n`;
}

/** SHA-256 of a node's code, in hexadecimal digits. */
export function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

/** Identifies code: its SHA-256, or that of code and analysis together. */
export function codeHashOf({ code, analysis }: Pick<LockedCode, "code" | "analysis">): string {
  return bothHash(hashOf(code), analysis === undefined ? undefined : hashOf(analysis));
}

function bothHash(code: string, analysis: string | undefined): string {
  return analysis === undefined ? code : hashOf(`${code}\n${analysis}`);
}
