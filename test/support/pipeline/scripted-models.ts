import type { ToolCall } from "@nova/engine";
import type { ModelRole } from "@nova/workflow";
import { ModelError, type ModelErrorReason, type Spent } from "../../../packages/agents/src/model/model-error.ts";
import type {
  Embedded,
  EmbeddingCall,
  ModelAnswer,
  ModelCall,
  Models,
} from "../../../packages/agents/src/model/models.ts";

/** One call of a model that the test expects, and its answer. */
export interface Line {
  role: ModelRole;
  /** Tools that the model calls before it answers. */
  calls?: { name: string; arguments: unknown }[];
  answer?: unknown;
  fails?: ModelErrorReason;
  costUsd?: number;
  /** The highest cost of the request, as estimated before it is sent. */
  estimatedUsd?: number;
}

/** A text that the pipeline must pass to the embedding model, and the embedding of the text. */
export interface Vector {
  vector?: number[];
  fails?: string;
  costUsd: number;
  estimatedUsd?: number;
}

export interface ScriptedModels extends Models {
  /** The calls that were made, in order. */
  asked: ModelCall<unknown>[];
  /** Throws if an expected call was not made. */
  finish(): void;
}

/**
 * Returns models that give the answers of the script `lines` in order. A call fails if it differs from the one that the
 * script expects.
 */
export function scriptedModels(...lines: Line[]): ScriptedModels {
  return embeddingModels(null, ...lines);
}

/** Returns scripted models, among them an embedding model unless `expected` is null. */
export function embeddingModels(expected: readonly Vector[] | null, ...lines: Line[]): ScriptedModels {
  const vectors = expected && [...expected];
  const waiting = [...lines];
  const asked: ModelCall<unknown>[] = [];
  return {
    asked,
    async ask<T>(call: ModelCall<T>): Promise<ModelAnswer<T>> {
      call.signal.throwIfAborted();
      const line = waiting.shift();
      if (line?.role !== call.role) throw new TypeError(`${call.role} spoke, expected: ${line?.role ?? "nobody"}`);
      call.beforeRequest?.(line.estimatedUsd ?? 0, 0, { input: 0, cached: 0, output: 0 });
      asked.push(call as ModelCall<unknown>);
      const used = {
        usage: { input: 900, cached: 100, output: 50 },
        costUsd: line.costUsd ?? 0.001,
        isEstimated: false,
      };
      if (line.fails)
        throw new ModelError(line.fails, `the model failed: ${line.fails}`, { ...used, text: "half an ans" });
      const toolCalls = await runCalls(call, line.calls ?? []);
      const text = typeof line.answer === "string" ? line.answer : JSON.stringify(line.answer);
      return { value: await readValue(call, line.answer, text, used), text, toolCalls, ...used };
    },
    embed: (call) => (vectors === null ? null : embedOne(call, vectors)),
    finish() {
      if (vectors && vectors.length > 0) throw new TypeError("a task was never embedded");
      if (waiting.length > 0) throw new TypeError(`${waiting[0]?.role} never spoke`);
    },
  };
}

async function readValue<T>({ answer }: ModelCall<T>, said: unknown, text: string, used: Partial<Spent>): Promise<T> {
  if ("schema" in answer) return answer.schema.parse(said);
  if ("whole" in answer) throw new TypeError("no script has a whole reply");
  const read = await answer.read(text);
  if (read.valid) return read.value;
  throw new ModelError("invalid", read.problem, { ...used, text });
}

async function embedOne(call: EmbeddingCall, vectors: Vector[]): Promise<Embedded> {
  const next = vectors.shift();
  if (!next) throw new TypeError("embedded what nobody expected");
  await call.beforeRequest?.(next.estimatedUsd ?? 0);
  const spent = { usage: { input: 12, cached: 0, output: 0 }, costUsd: next.costUsd };
  if (next.fails !== undefined) throw new ModelError("invalid", next.fails, spent);
  return { vectors: next.vector ? [next.vector] : [], model: "embedder", ...spent };
}

async function runCalls<T>(call: ModelCall<T>, calls: NonNullable<Line["calls"]>): Promise<ToolCall[]> {
  const made: ToolCall[] = [];
  for (const { name, arguments: args } of calls) {
    const tool = call.tools?.find((one) => one.name === name);
    if (!tool) throw new TypeError(`no tool ${name}`);
    const { found } = await tool.run(tool.parameters.parse(args));
    made.push({ function: name, arguments: args as Record<string, unknown>, found });
  }
  return made;
}
