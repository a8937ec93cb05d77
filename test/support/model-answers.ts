import type { ModelAction, ModelRequest } from "./model-server/model-server.ts";

/** The answers of models for one node. They do not depend on the number or the order of the requests. */
export interface Answers {
  needsAnalysis?: boolean;
  analysis?: string;
  /** The code that the model writes, by attempt. The number of earlier attempts is read from the prompt. */
  code?: string[];
}

export function answering({ needsAnalysis = false, analysis, code = [] }: Answers, request: ModelRequest): ModelAction {
  switch (request.role) {
    case "input_analyzer":
      return { json: { needs_analysis: needsAnalysis, complexity: "simple" } };
    case "data_analyzer":
      return { json: { code: analysis } };
    case "code_generator":
      return { json: { code: code[attemptsBefore(request)] } };
    default:
      return { json: { valid: true, reason: "the total is there" } };
  }
}

function attemptsBefore({ input }: ModelRequest): number {
  return new Set(Array.from(input.matchAll(/"attempt":\s*(\d)/g), ([, attempt]) => attempt)).size;
}
