import type { Spending, TraceEntry, TraceStep } from "@nova/engine";
import { tableLines } from "./table.ts";
import { styled } from "./terminal.ts";
import { duration, indent, section, shorten, statusText } from "./text.ts";

/** Describes for one cell how a prompt node got its code; empty for other nodes. */
export function codeCell({ ai_metadata }: TraceEntry): string {
  if (!ai_metadata) return "";
  const { cache_hit, attempts, model } = ai_metadata;
  if (cache_hit) return "pinned, no model used";
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  return `by ${model ?? "a model"}${tries}, ${dollars(ai_metadata.cost_usd)}`;
}

/** Describes the code of several visits of a prompt node for one cell. */
export function codeCellOf(visits: readonly TraceEntry[]): string {
  const written = visits.flatMap(({ ai_metadata }) => ai_metadata ?? []);
  if (written.length === 0) return "";
  const pinned = written.filter(({ cache_hit }) => cache_hit).length;
  const attempts = written.reduce((sum, { attempts: each, cache_hit }) => sum + (cache_hit ? 0 : each), 0);
  const cost = dollars(written.reduce((sum, { cost_usd }) => sum + cost_usd, 0));
  if (pinned === written.length) return `${pinned} pinned, no model used`;
  return `${pinned > 0 ? `${pinned} pinned, ` : ""}${attempts} attempts, ${cost}`;
}

/** The cost and tokens of models, in one line. */
export function spentText({ cost_usd, tokens_input, tokens_cached, tokens_output }: Spending): string {
  const cached = tokens_cached > 0 ? ` (${tokens_cached} of them cached)` : "";
  return `${dollars(cost_usd)}, ${tokens_input} tokens in${cached}, ${tokens_output} out`;
}

/** The failures before the code was right. With `--full` also every step with its model's prompt and answer. */
export function writtenLines({ ai_metadata, steps }: TraceEntry): string[] {
  if (!ai_metadata || steps.length === 0) return [];
  const isFull = steps.some(({ prompt }) => prompt !== undefined);
  const notes = (ai_metadata.cost_notes ?? []).map((note) => styled("yellow", note));
  if (!isFull) {
    const errors = ai_metadata.errors.map(({ attempt, agent_name, error }) => {
      const who = attempt === 0 ? "pinned code" : `attempt ${attempt}`;
      return styled("yellow", `${who}, ${agent_name}: ${shorten(error ?? "failed")}`);
    });
    return [...errors, ...notes];
  }
  const header = ["attempt", "agent", "status", "time", "model", "tokens in", "cached", "out", "cost"];
  const table = tableLines(header, steps.map(stepRow)).map((line) => `  ${line}`);
  return [...table, ...notes, ...steps.flatMap(stepLines)];
}

function stepRow(step: TraceStep): string[] {
  const common = [String(step.attempt_number), step.agent_name, statusText(step.status)];
  const time = duration(step.execution_time_ms);
  if (step.model_used === null) return [...common, time];
  const tokens = [step.tokens_input, step.tokens_cached, step.tokens_output].map(String);
  return [...common, time, step.model_used, ...tokens, dollars(step.cost_usd)];
}

function stepLines(step: TraceStep): string[] {
  const { attempt_number, agent_name, error_message, prompt, tool_calls, answer } = step;
  const parts = [
    ...section("prompt", prompt),
    ...section("searched", tool_calls.map((call) => JSON.stringify(call.arguments)).join("\n")),
    ...section("answer", answer),
    ...(error_message === null ? [] : [styled("red", `failed: ${error_message}`)]),
  ];
  if (parts.length === 0) return [];
  return [styled("bold", `  ${agent_name}, attempt ${attempt_number}`), ...parts.map((part) => indent(part))];
}

/** A call may cost less than a hundredth of a cent. */
function dollars(usd: number): string {
  return usd > 0 && usd < 0.0001 ? "< $0.0001" : `$${usd.toFixed(4)}`;
}
