import type { RequestedCall } from "./conversation.ts";
import type { Tool } from "./models.ts";
import { readAnswer } from "./read-answer.ts";
import type { Spending } from "./spending.ts";

/**
 * Runs what the model asked for, in order, and records each run. What cannot be run is answered with the reason, so that
 * the model can do better; it is no failure of the call.
 */
export async function runTools(
  calls: RequestedCall[],
  tools: Tool[],
  budget: number,
  spending: Spending,
): Promise<{ id: string; text: string }[]> {
  const results = [];
  for (const call of calls) {
    const spent = spending.toolCalls.length >= budget;
    results.push({ id: call.id, text: spent ? "No more calls: answer now." : await runTool(call, tools, spending) });
  }
  return results;
}

async function runTool(call: RequestedCall, tools: Tool[], { toolCalls }: Spending): Promise<string> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    return `There is no tool "${call.name}"; there are: ${tools.map(({ name }) => name).join(", ")}.`;
  }
  const args = readAnswer(call.arguments, tool.parameters);
  if (!args.valid) {
    return `The arguments do not fit: ${args.problem}`;
  }
  const { text, found } = await tool.run(args.value);
  toolCalls.push({ function: call.name, arguments: args.value as Record<string, unknown>, found });
  return text;
}
