import type { ModelRole } from "@nova/workflow";
import { z } from "zod";
import text from "./models.json" with { type: "json" };

const Id = z.string().min(1);
const Usd = z.number().nonnegative();

/** Dollars per million tokens, for prompts up to 272,000 tokens in the standard tier. */
const Price = z.strictObject({ input: Usd, cached: Usd, cacheWrite: Usd, output: Usd });
export type Price = z.infer<typeof Price>;

/** `on` is the first day (UTC) on which the provider refuses the id. */
const Retirement = z.strictObject({ on: z.iso.date(), successor: Id });
export type Retirement = z.infer<typeof Retirement>;

/**
 * The provider's models on one date. Only the catalog holds ids and prices of models, because both change over time.
 */
export const Catalog = z.strictObject({
  asOf: z.iso.date(),
  sources: z.array(z.url()).min(1),
  defaults: z.strictObject({
    input_analyzer: Id,
    data_analyzer: Id,
    code_generator: Id,
    output_validator: Id,
    text: Id,
  } satisfies Record<ModelRole, typeof Id>),
  usdPerMillionTokens: z.record(Id, Price),
  /** Prices of embedding models, which have no output tokens. */
  usdPerMillionEmbeddedTokens: z.record(Id, Usd),
  /** Limit of a prompt and its answer together. */
  windowTokens: z.record(Id, z.int().positive()),
  /** Models that refuse requests for `reasoning.encrypted_content`. */
  withoutReasoning: z.array(Id),
  retirements: z.record(Id, Retirement),
});
export type Catalog = z.infer<typeof Catalog>;

export const catalog: Catalog = Catalog.parse(text);

/** Removes the date of a snapshot (`gpt-5-2025-08-07`), which has the price and retirement of its model. */
function withoutSnapshot(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

/** Returns the price of a model; null for an unknown id, such as a model of a compatible server. */
export function priceOf(model: string): Price | null {
  return catalog.usdPerMillionTokens[model] ?? catalog.usdPerMillionTokens[withoutSnapshot(model)] ?? null;
}

/** Returns the limit of a prompt and its answer together, in tokens; null for an unknown id. */
export function windowOf(model: string): number | null {
  return catalog.windowTokens[model] ?? catalog.windowTokens[withoutSnapshot(model)] ?? null;
}

export function retirementOf(model: string): Retirement | null {
  return catalog.retirements[model] ?? catalog.retirements[withoutSnapshot(model)] ?? null;
}

export function supportsReasoning(model: string): boolean {
  return priceOf(model) !== null && !catalog.withoutReasoning.includes(withoutSnapshot(model));
}
