import {
  type AgentReply,
  type AgentTask,
  noCode,
  type PipelineOutcome,
  type RequestedCall,
  replyKey,
  type TextMeans,
} from "@nova/engine";
import { defined } from "@nova/workflow";
import { askModel, readRefusal } from "../agents/ask-model.ts";
import { type ModelRun, type StepResult, takeStep } from "../agents/node-run.ts";
import type { Reply } from "../model/models.ts";
import { withoutThoughts } from "../model/read-answer.ts";
import { answerFormOf, beginTextRun, textExecutorOf } from "./answer-text.ts";

/** Asks the model of an agent once, and sends the whole earlier conversation. The step records the whole reply. */
export async function converse(parts: ModelRun["parts"], task: AgentTask, means: TextMeans): Promise<PipelineOutcome> {
  const run = beginTextRun(parts, task, means, textExecutorOf(task));
  const step = await takeStep(run, "TextWriter", 1, () => ask(run, task));
  const { result } = step;
  if (step.status === "success" && result?.status === "success") return { ...noCode, status: "success", result };
  const { class: name, message } = readRefusal(step);
  return { ...noCode, status: "failed", class: name, message };
}

async function ask(run: ModelRun, task: AgentTask): Promise<StepResult> {
  const { system, prompt, node, record: input_data, tools, exchanges, mayCall } = task;
  const executor = textExecutorOf(task);
  const { temperature, maxTokens } = executor;
  const { format, instruction } = answerFormOf(task, executor);
  const asked = await askModel<Reply>(run, {
    role: "text",
    prompt: { instructions: [system, instruction].filter((text) => text !== "").join("\n\n"), input: prompt },
    answer: { whole: (reply) => reply, ...("json" in format && { name: format.name, json: format.json }) },
    exchanges,
    agentTools: tools,
    maxToolCalls: mayCall ? Number.MAX_SAFE_INTEGER : 0,
    isAskedOnce: true,
    longestMs: node.timeoutSeconds * 1000,
    ...defined({ temperature, maxOutputTokens: maxTokens }),
  });
  if ("refusal" in asked) return { ...asked.refusal, ...asked.record, input_data };
  const { text, calls, items } = asked.value;
  const said = withoutThoughts(text);
  const answer = calls.length > 0 ? undefined : await readFinal(said, format.read);
  const reply: AgentReply = { text: said, calls, ...defined({ items, answer }) };
  const set = [{ key: replyKey, json: JSON.stringify(reply) }];
  const result = { status: "success" as const, set, delete: [], logs: "", durationMs: 0 };
  return {
    ...asked.record,
    tool_calls: calls.map(shownCall),
    input_data,
    status: "success",
    output_data: null,
    result,
  };
}

type Read = ReturnType<typeof answerFormOf>["format"]["read"];

async function readFinal(said: string, read: Read): Promise<NonNullable<AgentReply["answer"]>> {
  const found = await read(said);
  return found.valid ? { json: found.value } : { problem: found.problem };
}

const maxShown = 4_000;

/** Formats a call for the record of the step. The arguments of the call may be any text. */
function shownCall({ name, arguments: written }: RequestedCall) {
  const parsed = parsedObject(written);
  return { function: name, arguments: parsed ?? { text: written.slice(0, maxShown).toWellFormed() } };
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
