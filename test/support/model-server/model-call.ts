import { createModels } from "@nova/agents";
import { expect } from "vitest";
import { z } from "zod";
import type { ModelEnvironment } from "../../../packages/agents/src/model/create-models.ts";
import type { ModelCall } from "../../../packages/agents/src/model/models.ts";

const Code = z.object({ code: z.string() });
type Code = z.infer<typeof Code>;

/** Returns a call of the code generator in which `changes` replace default values. */
export function modelCall(changes: Partial<ModelCall<Code>> = {}): ModelCall<Code> {
  return {
    role: "code_generator",
    model: "gpt-6.1-terra",
    instructions: "You write Python.",
    input: "Add the totals.",
    answer: { name: "task_code", schema: Code },
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Makes a call that must fail, and returns its error. */
export function failureOf(environment: ModelEnvironment, changes: Partial<ModelCall<Code>> = {}): Promise<unknown> {
  return createModels(environment)
    .ask(modelCall(changes))
    .then(
      () => expect.unreachable("the call came to an answer"),
      (error: unknown) => error,
    );
}
