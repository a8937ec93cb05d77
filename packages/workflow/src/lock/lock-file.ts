import { z } from "zod";
import { Ingredients, type LockedCode } from "./locked-code.ts";

/** Beside `workflow.json`. */
export const lockFileName = "workflow.lock.json";

export const generatedFolder = "generated";

/** Where the code of a node lies, so that people can read it, and see in a diff what became of it. */
export function codeFileOf(node: string): string {
  return `${generatedFolder}/${node}.py`;
}

/** The same of the code that looks at the data before it. No node has a dot in its id. */
export function analysisFileOf(node: string): string {
  return `${generatedFolder}/${node}.analysis.py`;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 in 64 hexadecimal digits" });

const Entry = z.strictObject({
  key: sha256,
  code_hash: sha256,
  analysis: sha256.optional(),
  origin: z.enum(["generated", "edited"]),
  model: z.string(),
  cost: z.strictObject({
    usd: z.number(),
    tokens_input: z.number(),
    tokens_cached: z.number(),
    tokens_output: z.number(),
  }),
  created_at: z.string(),
  proven_by: z.string().optional(),
  approved: z.strictObject({ by: z.string(), at: z.string() }).optional(),
  ingredients: Ingredients,
});

/** The text of `workflow.lock.json`, format 1. The code itself is in files of its own. */
export const LockFile = z.strictObject({ format: z.literal(1), nodes: z.record(z.string(), Entry) });
export type LockFile = z.output<typeof LockFile>;
type LockEntry = z.output<typeof Entry>;

/** Everything about locked code but the code. */
export type LockRecord = Omit<LockedCode, "code" | "analysis">;

export function recordOfEntry(entry: LockEntry): LockRecord {
  const { code_hash, analysis, created_at, proven_by, approved, ...rest } = entry;
  return {
    ...rest,
    codeHash: code_hash,
    ...(analysis !== undefined && { analysisHash: analysis }),
    createdAt: created_at,
    ...(proven_by !== undefined && { provenBy: proven_by }),
    ...(approved && { approved }),
  };
}

/**
 * The file's text: nodes and names in alphabetical order, a line for each thing that can change, so that a diff reads
 * well.
 */
export function lockText(locked: Record<string, LockRecord>): string {
  const nodes = Object.fromEntries(inOrder(locked).map(([node, record]) => [node, entryOfRecord(record)]));
  return `${JSON.stringify({ format: 1, nodes } satisfies LockFile, null, 2)}\n`;
}

function entryOfRecord(record: LockRecord) {
  const { key, codeHash, analysisHash, origin, model, cost, createdAt, provenBy, approved, ingredients } = record;
  const { usd, tokens_input, tokens_cached, tokens_output } = cost;
  return {
    key,
    code_hash: codeHash,
    ...(analysisHash !== undefined && { analysis: analysisHash }),
    origin,
    model,
    cost: { usd, tokens_input, tokens_cached, tokens_output },
    created_at: createdAt,
    ...(provenBy !== undefined && { proven_by: provenBy }),
    ...(approved && { approved: { by: approved.by, at: approved.at } }),
    ingredients: ingredientsInOrder(ingredients),
  };
}

function ingredientsInOrder(ingredients: Ingredients): Ingredients {
  const { prompt, node_type, edges, reads, generator, guides, model, settings, template, requirements, lib } =
    ingredients;
  return {
    prompt,
    node_type,
    edges,
    reads: sorted(reads),
    generator,
    guides: sorted(guides),
    model,
    settings,
    template,
    requirements,
    lib: sorted(lib),
  };
}

function sorted(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(inOrder(texts));
}

function inOrder<T>(record: Record<string, T>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
