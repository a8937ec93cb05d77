import { createHash } from "node:crypto";
import { z } from "zod";
import { defined } from "../defined.ts";

export const lockFileName = "workflow.lock.json";

export const generatedFolder = "generated";

/**
 * Returns the path of the file with a node's code. The code is in a separate file, so that people can read and compare
 * it.
 */
export function codeFileOf(node: string): string {
  return `${generatedFolder}/${node}.py`;
}

/**
 * Returns the path of a node's analysis code. It differs from the path of every node's code, because no id contains a
 * dot.
 */
export function analysisFileOf(node: string): string {
  return `${generatedFolder}/${node}.analysis.py`;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 in 64 hexadecimal digits" });
const texts = z.record(z.string(), z.string());

/** Everything from which a model wrote the code. Long values are represented by their SHA-256. */
const Ingredients = z.strictObject({
  prompt: z.string(),
  node_type: z.string(),
  edges: z.array(z.string()),
  /** Maps the dot path of every key that the code reads to its type. A `?` after the path marks an optional key. */
  reads: texts,
  generator: z.string(),
  /** Maps the name of every guide in the prompt to the SHA-256 of its text. */
  guides: texts,
  model: z.string(),
  settings: z.string(),
  template: z.string(),
  requirements: z.array(z.string()),
  lib: texts,
});
export type Ingredients = z.infer<typeof Ingredients>;

const Cost = z.strictObject({
  usd: z.number(),
  tokens_input: z.number(),
  tokens_cached: z.number(),
  tokens_output: z.number(),
});

const Approved = z.strictObject({ by: z.string(), at: z.string() });

const Entry = z.strictObject({
  key: sha256,
  /** SHA-256 of the code, or of the code and its analysis together (`codeHashOf`). */
  code_hash: sha256,
  analysis: sha256.optional(),
  /** `edited` if a person has changed the code. */
  origin: z.enum(["generated", "edited"]),
  model: z.string(),
  cost: Cost,
  created_at: z.string(),
  /** Id of a run in which the code passed its checks. */
  proven_by: z.string().optional(),
  approved: Approved.optional(),
  ingredients: Ingredients,
});
type LockEntry = z.output<typeof Entry>;

/** The text of `workflow.lock.json`, format 1. The code itself is in separate files. */
export const LockFile = z.strictObject({ format: z.literal(1), nodes: z.record(z.string(), Entry) });
export type LockFile = z.output<typeof LockFile>;

export type LockRecord = ReturnType<typeof recordOfEntry>;

/** Code that a model wrote for a prompt node. It is part of the definition, because it decides what a run does. */
export interface LockedCode extends LockRecord {
  code: string;
  /** Code that runs before `code` and analyses the data for it. Absent if the node needs no analysis. */
  analysis?: string;
}

export function recordOfEntry({ code_hash, analysis, created_at, proven_by, ...same }: LockEntry) {
  const renamed = { codeHash: code_hash, analysisHash: analysis, createdAt: created_at, provenBy: proven_by };
  return defined({ ...same, ...renamed });
}

/**
 * Returns the text of a lock file, in alphabetical order and with one line per value, so that version control shows
 * clear differences.
 */
export function lockText(locked: Record<string, LockRecord>): string {
  const nodes = Object.fromEntries(inOrder(locked).map(([node, record]) => [node, entryOfRecord(record)]));
  return `${JSON.stringify({ format: 1, nodes } satisfies LockFile, null, 2)}\n`;
}

function entryOfRecord({ codeHash, analysisHash, createdAt, provenBy, ...same }: LockRecord): LockEntry {
  const { reads, guides, lib } = same.ingredients;
  const sorted = { reads: byName(reads), guides: byName(guides), lib: byName(lib) };
  return asIn(Entry, {
    ...same,
    code_hash: codeHash,
    analysis: analysisHash,
    created_at: createdAt,
    proven_by: provenBy,
    cost: asIn(Cost, same.cost),
    approved: same.approved && asIn(Approved, same.approved),
    ingredients: asIn(Ingredients, { ...same.ingredients, ...sorted }),
  });
}

function asIn<Schema extends z.ZodObject>({ shape }: Schema, value: z.output<Schema>): z.output<Schema> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, value[name]])) as z.output<Schema>;
}

function byName(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(inOrder(texts));
}

function inOrder<T>(record: Record<string, T>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The record of a locked node, and the texts of its files. `analysis` is present if the code needs the result of an
 * analysis.
 */
export type ReadLock = { record: LockRecord } & (
  | { state: "locked"; code: string; analysis?: string }
  /** The file `file` differs from the locked code or analysis. */
  | { state: "edited"; code: string; analysis?: string; file: string }
  /** The file `file` does not exist. `edited` names the node's other file, if that one differs from the locked text. */
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

/** Returns the text with each kind of line ending: editors and git change these, which does not count as an edit. */
function variantsOf(text: string): string[] {
  return [text, normaliseLines(text)].flatMap((lines) => [lines, lines.replace(/\n$/, "")]);
}

function normaliseLines(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

export function codeFileText(code: string): string {
  return code.endsWith("\n") ? code : `${code}\n`;
}

export function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

/** Returns the hash that identifies code: the SHA-256 of the code, or of the code and its analysis together. */
export function codeHashOf({ code, analysis }: Pick<LockedCode, "code" | "analysis">): string {
  return bothHash(hashOf(code), analysis === undefined ? undefined : hashOf(analysis));
}

function bothHash(code: string, analysis: string | undefined): string {
  return analysis === undefined ? code : hashOf(`${code}\n${analysis}`);
}
