import { defined } from "@nova/workflow";
import { z } from "zod";
import { ExecutionStatus } from "./execution.ts";
import { About, NodeId } from "./session.ts";
import { ExecutionId, Name, OptionalExactObject } from "./values.ts";

/** Front ends of ScriptChain send null for absent fields. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const sessionName = /^(?:ses_[0-9A-HJKMNP-TV-Z]{26}|(?!ses_)[A-Za-z0-9][A-Za-z0-9_.:-]{0,63})$/;
const session = {
  session_id: optional(
    z
      .string()
      .regex(sessionName, "it has to be the id of a session, or a name of 1 to 64 letters, digits, _ . : and -"),
  ).meta({
    description:
      "the id of a session, or a name that you choose: a session of this key that NOVA makes at its first use. Absent: the key's default session",
  }),
};

const LlmConfig = z
  .strictObject({
    provider: optional(z.string()),
    model: optional(z.string()),
    temperature: optional(z.number()),
    max_tokens: optional(z.int()),
  })
  .transform(defined);

const longestPrompt = 1_000_000;
const Prompt = z
  .string()
  .min(1)
  .max(longestPrompt)
  .meta({ description: "`{Node}`, `{Node[2]}`, `{Node.key}` are references" });

const ContextData = OptionalExactObject.meta({
  description: "`id:<node>` and names with their values, `__node_mapping` from names to ids, `__current_node`",
});

export const GenerateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  llm_config: optional(LlmConfig),
  context_data: ContextData,
  on_missing: optional(z.enum(["fail", "mark"])).meta({
    description:
      "a reference without a value: `mark` writes `[CONTEXT_ERROR: ...]` in its place and adds a warning, `fail` answers 422 and asks no model. Absent: the node's setting, otherwise `mark`",
  }),
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
    warnings: z.array(z.string()).meta({ description: "a sentence for each reference without a value" }),
  })
  .meta({ id: "GeneratedText" });

export const AddNodeRequest = z.strictObject({
  ...session,
  node_id: NodeId,
  node_type: optional(z.string().max(100)).meta({ description: "a type that contains `decision` chooses an edge" }),
  name: optional(Name),
  prompt_text: optional(Prompt).meta({
    description: "absent: an input, whose output callers write, or a node whose prompt POST /generate_text_node sets",
  }),
  system: optional(Prompt),
  llm_config: optional(LlmConfig),
  input_keys: optional(z.unknown()).meta({ description: "as in a workflow file" }),
  output_schema: optional(z.looseObject({})),
});

export const AddedNode = z.object({ ...About, node_id: z.string() }).meta({ id: "AddedNode" });

export const AddEdgeRequest = z.strictObject({
  ...session,
  from_node: NodeId,
  to_node: NodeId,
  condition: optional(z.union([z.string(), z.boolean(), z.number()])),
});

export const AddedEdge = z.object({ ...About, from_node: z.string(), to_node: z.string() }).meta({ id: "AddedEdge" });

export const OutputsRequest = z.strictObject({
  ...session,
  node_ids: optional(z.array(NodeId).max(500)).meta({ description: "absent: all" }),
});

const Values = z.record(z.string(), z.unknown()).meta({ description: "by node; null: it has no output" });

export const NodeOutputs = z.object({ ...About, outputs: Values }).meta({ id: "NodeOutputs" });

export const TemplateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  context_data: ContextData,
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
  initial_inputs: OptionalExactObject.meta({ description: "other values for keys of the initial context" }),
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
