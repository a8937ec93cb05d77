import { describe, expect, it } from "vitest";
import {
  Catalog,
  catalog,
  priceOf,
  retirementOf,
  supportsReasoning,
} from "../../../packages/agents/src/model/catalog.ts";

const retirements = Object.entries(catalog.retirements);

describe("the catalog of models", () => {
  it.each(Object.entries(catalog.defaults))(
    "has a price and no retirement for the default model of the %s",
    (_role, model) => {
      expect(priceOf(model)).not.toBeNull();
      expect(retirementOf(model)).toBeNull();
    },
  );

  it.each(retirements)("replaces %s with a model that has a price and no retirement", (_model, { successor }) => {
    expect(priceOf(successor)).not.toBeNull();
    expect(retirementOf(successor)).toBeNull();
  });

  it.each(Object.entries(catalog.usdPerMillionTokens))(
    "has no higher price for cached input of %s than for new input",
    (_model, price) => {
      expect(price.cached).toBeLessThan(price.input);
      expect(price.cacheWrite).toBeGreaterThanOrEqual(price.input);
      expect(price.output).toBeGreaterThan(price.input);
    },
  );

  it("names its sources and its date", () => {
    expect(catalog).toMatchObject({ asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    expect(catalog.sources.every((source) => source.startsWith("https://developers.openai.com/"))).toBe(true);
  });

  it("treats a dated snapshot like its model", () => {
    expect(priceOf("gpt-5-mini-2025-08-07")).toEqual(priceOf("gpt-5-mini"));
    expect(retirementOf("gpt-4o-2024-08-06")).toEqual({ on: "2027-01-14", successor: "gpt-6-luna" });
  });

  it.each([
    ["gpt-6.1-terra", true],
    ["gpt-4.1", false],
    ["gpt-4o-2024-11-20", false],
    ["qwen3:8b", false],
  ])("knows whether %s returns encrypted thoughts: %s", (model, expected) => {
    expect(supportsReasoning(model)).toBe(expected);
  });

  it.each([
    ["a role without default", { defaults: { code_generator: "gpt-6-luna" } }],
    ["a retirement that is no date", { retirements: { "gpt-5": { on: "soon", successor: "gpt-6-luna" } } }],
    ["a price below zero", { usdPerMillionTokens: { x: { input: -1, cached: 0, cacheWrite: 0, output: 0 } } }],
    ["a field that nobody reads", { comment: "" }],
  ])("is refused with %s", (_case, changes) => {
    expect(Catalog.safeParse({ ...catalog, ...changes }).success).toBe(false);
  });
});
