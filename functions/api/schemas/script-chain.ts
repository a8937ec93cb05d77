import { z } from "zod";
import { ExecutionStatus } from "./execution.ts";
import { About, NodeId } from "./session.ts";
import { ExactObject, ExecutionId, Name, SessionId } from "./values.ts";

const session = { session_id: SessionId };

const LlmConfig = z.strictObject({
  provider: z.string().optional(),
  model: z.string().optional(),
  temperature: z.number().optional(),
  max_tokens: z.int().optional(),
});

const longestPrompt = 1_000_000;
const Prompt = z
  .string()
  .min(1)
  .max(longestPrompt)
  .meta({ description: "`{Node}`, `{Node[2]}`, `{Node.key}` are references" });

const ContextData = ExactObject.meta({
  description: "`id:<node>` and names with their values, `__node_mapping` from names to ids, `__current_node`",
});

export const GenerateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  llm_config: LlmConfig.optional(),
  context_data: ContextData.optional(),
});

export const GeneratedText = z
  .object({
    ...About,
    generated_text: z.string(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    cost: z.number().meta({ description: "US dollars" }),
    duration: z.number().meta({ description: "seconds" }),
  })
  .meta({ id: "GeneratedText" });

export const AddNodeRequest = z.strictObject({
  ...session,
  node_id: NodeId,
  node_type: z.string().max(100).optional().meta({ description: "one with `decision` in it chooses an edge" }),
  name: Name.optional(),
  prompt_text: Prompt.optional().meta({ description: "absent: it comes with POST /generate_text_node" }),
  system: Prompt.optional(),
  llm_config: LlmConfig.optional(),
  input_keys: z.unknown().optional().meta({ description: "as in a workflow file" }),
  output_schema: z.looseObject({}).optional(),
});

export const AddedNode = z.object({ ...About, node_id: z.string() }).meta({ id: "AddedNode" });

export const AddEdgeRequest = z.strictObject({
  ...session,
  from_node: NodeId,
  to_node: NodeId,
  condition: z.union([z.string(), z.boolean(), z.number()]).optional(),
});

export const AddedEdge = z.object({ ...About, from_node: z.string(), to_node: z.string() }).meta({ id: "AddedEdge" });

export const OutputsRequest = z.strictObject({
  ...session,
  node_ids: z.array(NodeId).max(500).optional().meta({ description: "absent: all" }),
});

const Values = z.record(z.string(), z.unknown()).meta({ description: "by node; null: it has no output" });

export const NodeOutputs = z.object({ ...About, outputs: Values }).meta({ id: "NodeOutputs" });

export const TemplateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  context_data: ContextData.optional(),
});

export const ValidatedTemplate = z
  .object({
    ...About,
    valid: z.boolean(),
    processed_prompt: z.string(),
    processed_node_values: z.record(z.string(), z.string()),
    warnings: z.array(z.string()),
  })
  .meta({ id: "ValidatedTemplate" });

export const ExecuteRequest = z.strictObject({
  ...session,
  initial_inputs: ExactObject.optional().meta({ description: "other values for keys that every run begins with" }),
});

export const Executed = z
  .object({
    ...About,
    results: Values,
    execution_id: ExecutionId.nullable(),
    status: ExecutionStatus,
    reused: z.array(z.string()),
    ran: z.array(z.string()),
    error: z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable(),
    shape: z.enum(["graph", "line"]),
    shape_why: z.string().nullable(),
  })
  .meta({ id: "ExecutedSession" });
