import { createModels, type ModelCall } from "@nova/agents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { modelServer } from "../../support/model-server/model-server.ts";

const Code = z.object({ code: z.string() });

const call = (changes: Partial<ModelCall<z.infer<typeof Code>>> = {}): ModelCall<z.infer<typeof Code>> => ({
  role: "code_generator",
  model: "gpt-6-luna",
  instructions: "You write Python.",
  input: "Add the total.",
  answer: { name: "code", schema: Code },
  signal: new AbortController().signal,
  ...changes,
});

describe.each(["responses", "chat"] as const)("a model asked over %s", (api) => {
  it("answers with a value of the schema", async () => {
    await using server = await modelServer([
      { expect: { role: "code_generator", api }, answer: { json: { code: "x" } } },
    ]);
    const answer = await createModels({ ...server.environment, NOVA_LLM_API: api }).ask(call());
    expect(answer).toMatchObject({ value: { code: "x" }, usage: { input: 1000 }, toolCalls: [] });
  });
});
