import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding } from "../findings/finding.ts";
import type { Loose } from "../json/exact.ts";
import type { Retry } from "../retry.ts";
import type { AgentNode, StepNode, TextExecutor } from "../workflow.ts";
import { AuthoredApproval } from "./approval.ts";
import { checkOutOfPlace, type FieldPlace, isReserved } from "./field-check.ts";
import { contextKeyPattern, NodeId, numberBetween, toolFields } from "./fields.ts";
import { childFields } from "./workflow-node.ts";

const toolError = 'must be the id of a node, or an object such as { "workflow": "billing" }';

const Tool = z.union(
  [NodeId, z.strictObject({ workflow: childFields.workflow, version: childFields.version }, { error: toolError })],
  { error: toolError },
);

/**
 * Maximum number of tools of one agent. With every request, the model reads the description and the schema of each
 * tool.
 */
const maxTools = 50;

/**
 * Maximum number of tool calls that NOVA runs of one answer of the model. NOVA tells the model that further calls did
 * not run.
 */
export const maxCallsAtOnce = 100;

/** Returns whether an argument of a tool may have this name. The argument becomes a key of the tool's context. */
export function isArgumentKey(key: string): boolean {
  return contextKeyPattern.test(key) && !isReserved(key);
}

export const agentFields = {
  tools: z
    .array(Tool, { error: 'must be a list such as ["look_up_order", { "workflow": "billing" }]' })
    .min(1, { error: "must have at least one tool" })
    .max(maxTools, { error: `must have at most ${maxTools} tools` })
    .describe(
      "For the executor `agent`: all that its model may call. A tool is a node without edges, with `description` and `input_schema`, or a published workflow.",
    )
    .optional(),
  max_steps: numberBetween("whole", 1, 1000)
    .describe(
      "For the executor `agent`: how many steps it has, 1 to 1000, default 20. Each call is a step, and so is each answer that does not fit.",
    )
    .optional(),
  max_concurrency: numberBetween("whole", 1, 40)
    .describe("For the executor `agent`: how many calls of one answer run side by side, 1 to 40, default 5.")
    .optional(),
};

const { type: _type, id: _id, name: _name, description: _description, ...askedFields } = AuthoredApproval.shape;
const { onError: _onError, into: _into, choices: _choices, form: _form, forms: _forms, ...approveFields } = askedFields;

export const approvedToolFields = {
  ...toolFields,
  approve: z
    .strictObject(approveFields, { error: 'must be an object such as { "message": "Refund {{amount}}?" }' })
    .describe(
      "For a tool of an agent: asks people before each call, with the fields of an approval. `{{dot.path}}` in `message` stands for an argument.",
    )
    .optional(),
};

const defaultSteps = 20;
const defaultConcurrency = 5;

/**
 * Retries a visit of an agent for more than a day while its model is unavailable. The first delay is 30 s, and no delay
 * is longer than 2 hours.
 */
const patientRetry: Retry = {
  attempts: 20,
  delaySeconds: 30,
  backoff: 2,
  maxDelaySeconds: 7200,
  on: ["ModelUnavailable"],
};

type Written = { [Name in keyof typeof agentFields]?: z.output<(typeof agentFields)[Name]> };

/** Turns a text node into an agent. `parseWorkflow` moves the nodes of its tools into its body. */
export function agentOf(
  { executor, type: _, ...node }: Omit<StepNode, "executor" | "type"> & { executor: TextExecutor; type?: never },
  { tools = [], max_steps = defaultSteps, max_concurrency = defaultConcurrency }: Written,
): AgentNode {
  const named = tools.map((tool) => (typeof tool === "string" ? tool : tool.workflow));
  return defined({
    ...node,
    type: "agent" as const,
    retry: node.retry ?? patientRetry,
    executor: { ...executor, tools: named.map((name) => ({ name, entry: name })), maxSteps: max_steps },
    body: { nodes: [], edges: [] },
    maxConcurrency: max_concurrency,
  });
}

export function* checkAgent(node: Loose, { name, path }: FieldPlace): Iterable<Finding> {
  if (typeof node.type === "string" && node.type.toLowerCase().startsWith("decision")) {
    const message = `${name} is a decision, and an agent is an action - let a decision after it choose`;
    yield finding("NOVA403", at(path, "executor"), message);
  }
  if (node.tools === undefined) {
    yield finding("NOVA450", path, `${name} is an agent without tools - add tools, or make it a text node`);
  }
}

export function* checkNoAgent(node: Loose, place: FieldPlace): Iterable<Finding> {
  const wayOut = 'is for agents, and would do nothing here - remove it, or add "executor": "agent"';
  yield* checkOutOfPlace("NOVA421", Object.keys(agentFields), wayOut, [node, place]);
}
