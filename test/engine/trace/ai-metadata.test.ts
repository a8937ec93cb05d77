import { describe, expect, it } from "vitest";
import { type AiRun, aiMetadata, type TraceStep } from "../../../packages/engine/src/trace/trace-entry.ts";
import { agentStep } from "../../support/engine/agent-step.ts";

type Told = Parameters<typeof agentStep>[2] & { run_time_ms?: number };

function step(agent: Parameters<typeof agentStep>[0], attempt: number, told: Told = {}): TraceStep {
  return { format: 1, timestamp: "2026-11-22T00:00:00.000Z", ...agentStep(agent, attempt, told), ...told } as TraceStep;
}

function told(run: Partial<AiRun>) {
  const head = { status: "success", execution_time_ms: 0, ...run.head } as const;
  return aiMetadata({ prompt: "Find the total.", code: null, codeModel: null, error: null, steps: [], ...run, head });
}

const search = { function: "search_documentation", arguments: { library: "fitz", query: "text" } };
const twoStages = [
  step("InputAnalyzer", 1, { output_data: { needs_analysis: true }, execution_time_ms: 250, cost_usd: 0.1 }),
  step("DataAnalyzer", 1, {
    generated_code: "result = 1",
    output_data: { pages: 1 },
    execution_time_ms: 2000,
    run_time_ms: 800,
    tokens_input: 10,
    tokens_cached: 4,
    tokens_output: 2,
    cost_usd: 0.2,
  }),
  step("CodeGenerator", 1, {
    generated_code: "x = 1",
    model_used: "m-1",
    tool_calls: [search],
    execution_time_ms: 1800,
    tokens_input: 100,
    tokens_output: 20,
    cost_usd: 0.3,
    output_data: { explanation: "none" },
  }),
  step("CodeValidator", 1, { output_data: { valid: true }, execution_time_ms: 15 }),
  step("E2BExecutor", 1, { execution_time_ms: 1200, sandbox_id: "S1" }),
  step("OutputValidator", 1, { output_data: { valid: true }, execution_time_ms: 400 }),
];

describe("the metadata in the trace of a prompt node", () => {
  it("have every field of the specification, computed from the recorded steps alone", () => {
    const head = { status: "success", execution_time_ms: 5665 } as const;
    expect(told({ head, code: "x = 1", steps: twoStages })).toEqual({
      model: "m-1",
      prompt: "Find the total.",
      prompt_task: "Find the total.",
      generated_code: "x = 1",
      code_length: 5,
      tokens_input: 110,
      tokens_input_estimated: 110,
      tokens_cached: 4,
      tokens_output: 22,
      tokens_output_estimated: 22,
      cost_usd: 0.6,
      cost_usd_estimated: 0.6,
      generation_time_ms: 1800,
      execution_time_ms: 1200,
      total_time_ms: 5665,
      attempts: 1,
      cache_hit: false,
      tool_calling_enabled: true,
      tool_calls: [search],
      total_tool_calls: 1,
      two_stage_enabled: true,
      ai_self_determined: true,
      stages_used: 2,
      analysis_metadata: {
        analysis_code: "result = 1",
        analysis_result: { pages: 1 },
        generation_time_ms: 1200,
        execution_time_ms: 800,
      },
      input_analysis: { needs_analysis: true },
      data_analysis: { analysis_code: "result = 1", pages: 1 },
      code_generation: { code: "x = 1", tool_calls: [search], model: "m-1", explanation: "none" },
      code_validation: { valid: true },
      output_validation: { valid: true },
      errors: [],
      timings: {
        input_analysis: 250,
        data_analysis: 2000,
        code_generation: 1800,
        code_validation: 15,
        code_execution: 1200,
        output_validation: 400,
      },
      status: "success",
    });
  });

  it("have the pinned analysis and the pinned code that were used, with the run time of each", () => {
    const pinnedAnalysis = {
      analysis_code: "result = 1",
      analysis_result: { pages: 2 },
      generation_time_ms: 0,
      execution_time_ms: 300,
    };
    const head = { status: "success", cache_hit: true, execution_time_ms: 1000 } as const;
    expect(told({ head, code: "x = 1", pinnedAnalysis })).toMatchObject({
      analysis_metadata: pinnedAnalysis,
      data_analysis: { analysis_code: "result = 1", pages: 2 },
      two_stage_enabled: true,
      stages_used: 2,
      ai_self_determined: false,
      execution_time_ms: 700,
      attempts: 1,
    });
    expect(told({ head, code: "x = 1" })).toMatchObject({ two_stage_enabled: false, analysis_metadata: null });
  });

  it("count one stage for code that was written without an analysis", () => {
    const steps = twoStages.filter(({ agent_name }) => agent_name !== "DataAnalyzer");
    expect(told({ steps })).toMatchObject({ stages_used: 1, analysis_metadata: null, data_analysis: null });
  });

  it("have no call of a model for pinned code, but name the model that wrote this code", () => {
    const head = { status: "success", cache_hit: true, execution_time_ms: 40 } as const;
    expect(told({ head, code: "x = 1", codeModel: "m-0" })).toMatchObject({
      model: "m-0",
      cache_hit: true,
      attempts: 1,
      tokens_input: 0,
      cost_usd: 0,
      tool_calling_enabled: false,
      execution_time_ms: 40,
      generation_time_ms: 0,
      total_time_ms: 40,
      two_stage_enabled: false,
      errors: [],
    });
  });
});

describe("the metadata in the trace of a failed prompt node", () => {
  const attempt = (number: number, error: string) => [
    step("CodeGenerator", number, { generated_code: `x = ${number}` }),
    step("E2BExecutor", number, {
      status: "failed",
      error_message: error,
      ...(number === 2 && { output_data: { error_class: "NodeTimeout" } }),
    }),
  ];
  const head = { status: "failed", execution_time_ms: 6 } as const;

  it("have the code and the error of each attempt, and the status `failed_after_retries`", () => {
    const steps = [...attempt(1, "a"), ...attempt(2, "b"), ...attempt(3, "c")];
    const error = "Failed after 3 attempts: c";
    expect(told({ head, steps, code: "x = 3", error })).toMatchObject({
      status: "failed_after_retries",
      attempts: 3,
      all_attempts: [
        { attempt: 1, code: "x = 1", error_class: "NodeFailed", error: "a" },
        { attempt: 2, code: "x = 2", error_class: "NodeTimeout", error: "b" },
        { attempt: 3, code: "x = 3", error_class: "NodeFailed", error: "c" },
      ],
      final_error: error,
      errors: [
        { attempt: 1, agent_name: "E2BExecutor", error: "a" },
        { attempt: 2, agent_name: "E2BExecutor", error: "b" },
        { attempt: 3, agent_name: "E2BExecutor", error: "c" },
      ],
    });
  });

  it("list pinned code that failed as attempt 0", () => {
    const first = step("E2BExecutor", 0, { status: "failed", error_message: "old", generated_code: "p" });
    const { all_attempts } = told({ head, steps: [first, ...attempt(1, "a")], error: "a" });
    expect(all_attempts).toEqual([
      { attempt: 0, code: "p", error_class: "NodeFailed", error: "old" },
      { attempt: 1, code: "x = 1", error_class: "NodeFailed", error: "a" },
    ]);
  });

  it.each([
    ["that was stopped", { steps: [step("CodeGenerator", 1, { generated_code: "x" })] }, { attempt: 1, code: "x" }],
    [
      "whose failed pinned code was not replaced",
      { head: { ...head, cache_hit: true }, code: "p" },
      { attempt: 0, code: "p" },
    ],
  ] as const)("have the error of the node as the error of an attempt %s", (_which, run, expected) => {
    const timedOut = { ...head, ...("head" in run && run.head), error_class: "NodeTimeout" } as const;
    const { all_attempts, status } = told({ error: "why", ...run, head: timedOut });
    expect(all_attempts).toEqual([{ ...expected, error_class: "NodeTimeout", error: "why" }]);
    expect(status).toBe("failed");
  });

  it("have no attempts if no code was written", () => {
    expect(told({ head, error: "no key" })).toMatchObject({ attempts: 0, all_attempts: [], final_error: "no key" });
  });
});
