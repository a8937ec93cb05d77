import type { ModelAction, ModelRequest } from "./model-server/model-server.ts";

/** What the models of one node say, however often and in whatever order they are asked. */
export interface Answers {
  needsAnalysis?: boolean;
  analysis?: string;
  /** By attempt; how many attempts came before, the prompt says. */
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
