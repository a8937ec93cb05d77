import type { Generation } from "@nova/engine";
import { z } from "zod";
import { Time } from "./values.ts";

export const GenerationItem = z
  .object({
    node: z.string(),
    client_slug: z.string().nullable().meta({ description: "null: it runs for every client" }),
    status: z.enum(["candidate", "pinned", "replaced"]),
    key: z.string(),
    ingredients: z.looseObject({}).meta({ description: "everything that the code depends on" }),
    code: z.string(),
    code_hash: z.string(),
    analysis: z.string().nullable(),
    analysis_hash: z.string().nullable(),
    origin: z.enum(["generated", "edited"]),
    model: z.string(),
    cost: z.object({
      usd: z.number(),
      tokens_input: z.number(),
      tokens_cached: z.number(),
      tokens_output: z.number(),
    }),
    created_at: Time,
    proven_by: z.string().nullable(),
    approved: z.object({ by: z.string(), at: z.string() }).nullable(),
  })
  .meta({ id: "Generation" });

export function generationItem(kept: Generation) {
  const { node, client, status, key, ingredients, code, codeHash, origin, model, cost, createdAt } = kept;
  return {
    ...{ node, client_slug: client, status, key, ingredients, code, code_hash: codeHash },
    analysis: kept.analysis ?? null,
    analysis_hash: kept.analysisHash ?? null,
    ...{ origin, model, cost, created_at: createdAt },
    proven_by: kept.provenBy ?? null,
    approved: kept.approved ?? null,
  };
}
