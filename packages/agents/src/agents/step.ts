import { type JournalStep, maskValue, type StepDraft, type ToolCall } from "@nova/engine";
import type { ModelRun } from "./model-run.ts";

const agents = {
  InputAnalyzer: { step_number: 1, step_name: "input_analysis" },
  DataAnalyzer: { step_number: 2, step_name: "data_analysis" },
  CodeGenerator: { step_number: 3, step_name: "code_generation" },
  CodeValidator: { step_number: 4, step_name: "code_validation" },
  E2BExecutor: { step_number: 5, step_name: "code_execution" },
  OutputValidator: { step_number: 6, step_name: "output_validation" },
  TextWriter: { step_number: 1, step_name: "text_generation" },
} as const;

type AgentName = keyof typeof agents;

/** The result of an agent; absent fields get defaults. */
export type StepResult = Pick<StepDraft, "status" | "input_data" | "output_data"> &
  Partial<Omit<StepDraft, "step_number" | "step_name" | "agent_name" | "attempt_number" | "execution_time_ms">>;

/**
 * Returns the agent's next step of the journal: the recorded one, or a new one from `act`. Adds its costs to the run's.
 */
export async function takeStep(
  run: ModelRun,
  agent: AgentName,
  attempt: number,
  act: (journal: number) => Promise<StepResult>,
): Promise<JournalStep> {
  const { means, task, spent } = run;
  const step = await means.journal.next(async (journal) => {
    const began = means.now();
    const deed = await act(journal);
    return buildDraft(agent, attempt, deed, means.now() - began, (text) => task.mask(text));
  });
  spent.usd += step.cost_usd;
  spent.tokens_input += step.tokens_input;
  spent.tokens_cached += step.tokens_cached;
  spent.tokens_output += step.tokens_output;
  return step;
}

function buildDraft(
  agent: AgentName,
  attempt: number,
  deed: StepResult,
  tookMs: number,
  mask: (text: string) => string,
): StepDraft {
  const { traceback, logs, prompt, answer, error_message, generated_code, result, ...fields } = deed;
  const maskText = (text: string | null | undefined) => (text == null ? null : mask(text));
  return {
    ...agents[agent],
    agent_name: agent,
    attempt_number: attempt,
    sandbox_id: null,
    model_used: null,
    tokens_input: 0,
    tokens_cached: 0,
    tokens_output: 0,
    cost_usd: 0,
    ...fields,
    input_data: maskValue(deed.input_data, mask),
    output_data: maskValue(deed.output_data, mask),
    tool_calls: maskValue(deed.tool_calls ?? [], mask) as ToolCall[],
    generated_code: maskText(generated_code),
    error_message: maskText(error_message),
    ...(traceback && { traceback: mask(traceback) }),
    ...(logs && { logs: mask(logs) }),
    ...(prompt && { prompt: mask(prompt) }),
    ...(answer && { answer: mask(answer) }),
    // The result of judged code becomes the context, so only its logs are masked.
    ...(result && { result: { ...result, logs: mask(result.logs) } }),
    execution_time_ms: Math.round(tookMs),
  };
}
