import type { AgentNode, Node, Workflow } from "@nova/workflow";
import { action, decision, flow, lines, mapOver, prompted } from "./flows.ts";

const repeatable = { effects: false };

/** Workflows with nodes whose code a model writes, for the random simulation (simulate.ts). */
export const promptFlows: Workflow[] = [
  flow("prompt", [prompted(action("a")), action("b"), prompted(action("c"))], lines("start > a > b > c > end")),
  flow(
    "repeatable prompts",
    [prompted(action("a", repeatable)), prompted(action("b", repeatable)), action("c")],
    lines("start > a > b > c > end"),
  ),
  flow(
    "prompts with effects",
    [prompted(action("a", { effects: true, onError: "r" })), prompted(action("r"))],
    lines("start > a > end", "r > end"),
  ),
  flow(
    "retried prompts",
    [
      prompted(action("a", { retry: { attempts: 3, delaySeconds: 2 } })),
      prompted(action("b", { effects: false, onError: "r", retry: { attempts: 5, delaySeconds: 1, jitter: true } })),
      action("r"),
    ],
    lines("start > a > b > end", "r > end"),
  ),
  flow(
    "prompted decision",
    [prompted(decision("d", repeatable)), action("a"), prompted(action("b", { isolation: "fresh" }))],
    [...lines("start > d", "a > end", "b > end"), ["d", "a", "yes"], ["d", "b", "default"]],
  ),
  flow(
    "prompts in branches",
    [action("f"), prompted(action("a", repeatable)), prompted(action("b")), action("j")],
    lines("start > f > a > j > end", "f > b > j"),
  ),
  flow(
    "prompts in a map",
    [mapOver("m", [prompted(action("i", repeatable))], []), action("z")],
    lines("start > m > z > end"),
  ),
];

type Options = Partial<Pick<AgentNode, "onError" | "retry" | "maxConcurrency">> & {
  maxSteps?: number;
  isCompiled?: boolean;
};

/** Builds an agent with these tools, each of which is one node. */
function agent(id: string, tools: Node[], { maxSteps = 6, isCompiled, ...options }: Options = {}): AgentNode {
  const schema = JSON.stringify({ type: "object" }) as never;
  const described = tools.map((tool) => ({ ...tool, description: tool.id, inputSchema: schema }));
  return {
    id,
    type: "agent",
    effects: false,
    credentials: [],
    timeoutSeconds: 120,
    maxConcurrency: 2,
    executor: {
      kind: "text",
      prompt: `Solve ${id}.`,
      into: id,
      maxSteps,
      tools: tools.map((tool) => ({ name: tool.id, entry: tool.id })),
      ...(isCompiled && { compiled: { code: `# solves ${id}`, agent: `${id}_fallback` } }),
    },
    body: { nodes: described, edges: [] },
    ...options,
  };
}

/** Workflows with agents, for the random simulation (simulate.ts). */
export const agentFlows: Workflow[] = [
  flow(
    "agent",
    [agent("g", [action("look"), action("pay", { effects: true })]), action("z")],
    lines("start > g > z > end"),
  ),
  flow(
    "agent with repeatable tools",
    [
      agent("g", [action("look", { effects: false }), action("pay", { effects: false })]),
      action("b", { effects: false }),
    ],
    lines("start > g > b > end"),
  ),
  flow(
    "agent with onError",
    [
      agent("g", [action("look"), action("pay", { effects: false })], {
        onError: "r",
        maxSteps: 3,
        retry: { attempts: 3, delaySeconds: 2, on: ["ModelUnavailable"] },
      }),
      action("r"),
    ],
    lines("start > g > end", "r > end"),
  ),
  flow(
    "compiled agent",
    [
      agent("g", [action("look", { effects: false }), action("pay", { effects: true })], { isCompiled: true }),
      action("z"),
    ],
    lines("start > g > z > end"),
  ),
  flow(
    "agent in a map",
    [mapOver("m", [agent("g", [action("look", { effects: false })]), action("i")], lines("g > i")), action("z")],
    lines("start > m > z > end"),
  ),
  flow(
    "agent in a branch",
    [action("f"), agent("g", [action("look", { effects: false })]), action("b"), action("j")],
    lines("start > f > g > j > end", "f > b > j"),
  ),
  flow(
    "agent in a loop",
    [agent("g", [action("look", { effects: false })]), decision("d")],
    [...lines("start > g > d"), ["d", "g", "again", 2], ["d", "end", "default"]],
  ),
];
