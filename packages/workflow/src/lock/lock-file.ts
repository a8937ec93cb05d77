import { z } from "zod";
import { defined } from "../defined.ts";

/** The name of the lock file, next to `workflow.json`. */
export const lockFileName = "workflow.lock.json";

export const generatedFolder = "generated";

/** Path of a node's code. It is a separate file, so that people can read and compare it. */
export function codeFileOf(node: string): string {
  return `${generatedFolder}/${node}.py`;
}

/** Path of a node's analysis code. The dot is unambiguous: no node id has one. */
export function analysisFileOf(node: string): string {
  return `${generatedFolder}/${node}.analysis.py`;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 in 64 hexadecimal digits" });
const texts = z.record(z.string(), z.string());

/** Everything that the code depends on. Long values are represented by their SHA-256. */
const Ingredients = z.strictObject({
  prompt: z.string(),
  node_type: z.string(),
  /** Conditions of a decision's edges, in order. */
  edges: z.array(z.string()),
  /** Dot path of every key that the code reads -> its type. A `?` after the path marks optional keys. */
  reads: texts,
  generator: z.string(),
  /** Name of every guide in the prompt -> SHA-256 of its text. */
  guides: texts,
  model: z.string(),
  settings: z.string(),
  template: z.string(),
  requirements: z.array(z.string()),
  /** Path below `lib/` -> SHA-256. */
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
  /** SHA-256 of the ingredients for which the code was written. */
  key: sha256,
  /** SHA-256 of the code, or of code and analysis (`codeHashOf`). */
  code_hash: sha256,
  /** SHA-256 of the analysis. */
  analysis: sha256.optional(),
  /** `edited` if a person has changed the code. */
  origin: z.enum(["generated", "edited"]),
  /** The model that wrote the code. */
  model: z.string(),
  /** Price of writing the code. */
  cost: Cost,
  /** ISO 8601. */
  created_at: z.string(),
  /** An execution in which the code passed its checks. */
  proven_by: z.string().optional(),
  approved: Approved.optional(),
  ingredients: Ingredients,
});
type LockEntry = z.output<typeof Entry>;

/** The text of `workflow.lock.json`, format 1. The code itself is in separate files. */
export const LockFile = z.strictObject({ format: z.literal(1), nodes: z.record(z.string(), Entry) });
export type LockFile = z.output<typeof LockFile>;

/** The facts about locked code, without the code. */
export type LockRecord = ReturnType<typeof recordOfEntry>;

/** Code that a model wrote for a prompt node. It belongs to the definition, because it decides what runs. */
export interface LockedCode extends LockRecord {
  code: string;
  /** Code that looks at the data first; `code` reads its findings. Absent if the node needs none. */
  analysis?: string;
}

export function recordOfEntry({ code_hash, analysis, created_at, proven_by, ...same }: LockEntry) {
  const renamed = { codeHash: code_hash, analysisHash: analysis, createdAt: created_at, provenBy: proven_by };
  return defined({ ...same, ...renamed });
}

/**
 * Returns the file's text: nodes and names in alphabetical order, one line for each value, so that version control
 * shows clear differences.
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

/** Returns the fields in the order of the schema. */
function asIn<Schema extends z.ZodObject>({ shape }: Schema, value: z.output<Schema>): z.output<Schema> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, value[name]])) as z.output<Schema>;
}

function byName(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(inOrder(texts));
}

function inOrder<T>(record: Record<string, T>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
