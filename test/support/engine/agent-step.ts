import type { StepDraft } from "@nova/engine";

const agents = {
  InputAnalyzer: [1, "input_analysis"],
  DataAnalyzer: [2, "data_analysis"],
  CodeGenerator: [3, "code_generation"],
  CodeValidator: [4, "code_validation"],
  E2BExecutor: [5, "code_execution"],
  OutputValidator: [6, "output_validation"],
  TextWriter: [1, "text_generation"],
} as const;

/** Builds a step as the pipeline records it. Fields that are missing in `told` are empty. */
export function agentStep(agent: keyof typeof agents, attempt: number, told: Partial<StepDraft> = {}): StepDraft {
  const [step_number, step_name] = agents[agent];
  return {
    step_number,
    step_name,
    agent_name: agent,
    attempt_number: attempt,
    input_data: null,
    output_data: null,
    generated_code: null,
    sandbox_id: null,
    model_used: null,
    tokens_input: 0,
    tokens_cached: 0,
    tokens_output: 0,
    cost_usd: 0,
    tool_calls: [],
    status: "success",
    error_message: null,
    execution_time_ms: 1,
    ...told,
  };
}
