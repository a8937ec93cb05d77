import { type ModelAnswer, type ModelCall, ModelError, type ModelErrorReason, type Models } from "@nova/agents";
import type { ToolCall } from "@nova/engine";
import type { ModelRole } from "@nova/workflow";

/** One call that is expected, and what becomes of it. */
export interface Line {
  role: ModelRole;
  /** Tools that the model calls before it answers. */
  calls?: { name: string; arguments: unknown }[];
  answer?: unknown;
  fails?: ModelErrorReason;
  costUsd?: number;
  /** What the request is estimated to cost at most. */
  estimatedUsd?: number;
}

export interface ScriptedModels extends Models {
  /** What was asked, in order. */
  asked: ModelCall<unknown>[];
  /** Throws where a line has not come to its turn. */
  finish(): void;
}

/** Models that say their lines in order; a call out of turn fails. */
export function scriptedModels(...lines: Line[]): ScriptedModels {
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
      const used = { usage: { input: 900, cached: 100, output: 50 }, costUsd: line.costUsd ?? 0.001 };
      if (line.fails)
        throw new ModelError(line.fails, `the model failed: ${line.fails}`, { ...used, text: "half an ans" });
      const toolCalls = await runCalls(call, line.calls ?? []);
      const value = call.answer.schema.parse(line.answer);
      const common = { priceKnown: true, model: call.model, durationMs: 5 };
      return { value, text: JSON.stringify(line.answer), toolCalls, ...used, ...common };
    },
    embed: () => null,
    finish() {
      if (waiting.length > 0) throw new TypeError(`${waiting[0]?.role} never spoke`);
    },
  };
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
