import type { ScriptedCall } from "./model-server/script.ts";

/** Returns a node that can be a tool. Its code reads the arguments of a call in `context`. */
export function toolNode(id: string, code: string, properties: object = {}, more: object = {}): object {
  const input_schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { id, type: "action", description: `The tool ${id}.`, input_schema, code, ...more };
}

/** Returns a workflow with the agent `resolve` as its only step on the main line. */
export function agentFlow(id: string, tools: readonly object[], agent: object = {}): object {
  const names = tools.flatMap((tool) => ("id" in tool ? [tool.id] : []));
  return {
    id,
    nodes: [
      { id: "start", type: "start" },
      { id: "resolve", type: "action", executor: "agent", prompt: "Resolve {start.case}.", tools: names, ...agent },
      ...tools,
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "resolve" },
      { from: "resolve", to: "end" },
    ],
  };
}

/** Returns a call that a scripted model makes. If `args` is a text, it is sent unchanged. */
export function calling(name: string, args: ScriptedCall["arguments"]): ScriptedCall {
  return { name, arguments: args };
}

/** Returns the workflow of `agentFlow` with code in place of the agent. The agent answers if the code fails. */
export function compiledFlow(id: string, tools: readonly object[], code: string, agent: object = {}): object {
  const { nodes } = agentFlow(id, tools, agent) as { nodes: object[] };
  return {
    id,
    nodes: [...nodes, { id: "resolve_code", type: "action", code, fallback: "resolve" }],
    edges: [
      { from: "start", to: "resolve_code" },
      { from: "resolve_code", to: "end" },
    ],
  };
}
