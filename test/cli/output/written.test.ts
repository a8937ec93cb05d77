import { stripVTControlCharacters } from "node:util";
import type { AiMetadata, TraceEntry, TraceStep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { codeCell, spentText, writtenLines } from "../../../packages/cli/src/output/trace.ts";

function step(agent_name: string, attempt_number: number, more: Partial<TraceStep> = {}): TraceStep {
  return {
    format: 1,
    step_number: 1,
    step_name: "",
    agent_name,
    attempt_number,
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
    execution_time_ms: 7,
    timestamp: "",
    ...more,
  };
}

const errors = [
  { attempt: 0, agent_name: "E2BExecutor", error: "KeyError: 'total'" },
  { attempt: 1, agent_name: "OutputValidator", error: "nothing\nwas added" },
];

function entry(metadata: Partial<AiMetadata> | null, steps: TraceStep[] = []): TraceEntry {
  const whole = { cache_hit: false, attempts: 1, model: "gpt-6.1-terra", cost_usd: 0.00165, errors, ...metadata };
  return { ai_metadata: metadata && whole, steps } as unknown as TraceEntry;
}

function plain(lines: string[]): string[] {
  return lines.map(stripVTControlCharacters);
}

describe("the origin of the code of a node", () => {
  it.each<[Partial<AiMetadata> | null, string]>([
    [{}, "by gpt-6.1-terra, $0.0016"],
    [{ attempts: 3, cost_usd: 0.0123 }, "by gpt-6.1-terra, 3 attempts, $0.0123"],
    [{ cost_usd: 0.00001 }, "by gpt-6.1-terra, < $0.0001"],
    [{ model: null, attempts: 0, cost_usd: 0 }, "by a model, $0.00"],
    [{ cache_hit: true, cost_usd: 0 }, "pinned, no model used"],
    [null, ""],
  ])("is described in one cell for the metadata %j: %s", (metadata, cell) => {
    expect(codeCell(entry(metadata))).toBe(cell);
  });
});

describe("the cost of models in the output of a command", () => {
  it.each([
    [{ tokens_input: 1200, tokens_cached: 0 }, "$0.0175, 1200 tokens in, 40 out"],
    [{ tokens_input: 1200, tokens_cached: 900 }, "$0.0175, 1200 tokens in (900 of them cached), 40 out"],
  ])("is shown in one line for the tokens %j: %s", (tokens, line) => {
    expect(spentText({ cost_usd: 0.0175, tokens_output: 40, ...tokens })).toBe(line);
  });
});

describe("the attempts of models to write code", () => {
  it("have one line for each failed attempt", () => {
    expect(plain(writtenLines(entry({}, [step("InputAnalyzer", 1)])))).toEqual([
      "pinned code, E2BExecutor: KeyError: 'total'",
      "attempt 1, OutputValidator: nothing was added",
    ]);
  });

  it("are shown with the prompt and the answer of every model if the option --full is given", () => {
    const search = { function: "search_documentation", arguments: { library: "fitz", query: "text" } };
    const asked = { model_used: "gpt-6-luna", tokens_input: 900, tokens_cached: 500, tokens_output: 30, cost_usd: 0.5 };
    const steps = [
      step("CodeGenerator", 1, {
        ...asked,
        prompt: "Add up\nthe lines.",
        answer: '{"code":"x"}',
        tool_calls: [search],
      }),
      step("E2BExecutor", 1, { status: "failed", error_message: "NameError: x" }),
      step("CodeValidator", 2),
    ];
    expect(
      plain(writtenLines(entry({}, steps)))
        .join("\n")
        .split("\n"),
    ).toEqual([
      "  attempt  agent          status   time  model       tokens in  cached  out  cost",
      "  1        CodeGenerator  success  7 ms  gpt-6-luna  900        500     30   $0.5000",
      "  1        E2BExecutor    failed   7 ms",
      "  2        CodeValidator  success  7 ms",
      "  CodeGenerator, attempt 1",
      "  prompt:",
      "    Add up",
      "    the lines.",
      "  searched:",
      '    {"library":"fitz","query":"text"}',
      "  answer:",
      '    {"code":"x"}',
      "  E2BExecutor, attempt 1",
      "  failed: NameError: x",
    ]);
  });

  it.each([
    ["written by hand", entry(null, [step("E2BExecutor", 1)])],
    ["that was already pinned", entry({ cache_hit: true, errors: [] })],
  ])("are not shown for code %s", (_, told) => {
    expect(writtenLines(told)).toEqual([]);
  });
});
