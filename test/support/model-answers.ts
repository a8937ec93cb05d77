import type { ModelAction, ModelRequest } from "./model-server/model-server.ts";

/** Answers of the models of one node. They do not depend on the number or the order of requests. */
export interface Answers {
  needsAnalysis?: boolean;
  analysis?: string;
  /** Code by attempt; the prompt tells how many attempts there were. */
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
