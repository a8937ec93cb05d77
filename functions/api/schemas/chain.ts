import { z } from "zod";
import { Context, ExecutionId, Time, VersionNumber, WorkflowId } from "./values.ts";

export const Place = { seq: z.int(), scope: z.string() };

const Status = z.enum(["success", "failed"]);
const Text = z.string().nullable();
const Ms = z.number().meta({ description: "milliseconds" });
const full = "with `full` alone";

const ToolCall = z.object({
  function: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  found: z.unknown().optional().meta({ description: "a summary of what it found" }),
});

const CostNotes = z.array(z.string()).optional().meta({
  description:
    "why tokens and cost are not exact: they are estimated, or the model has no price; absent: they are exact",
});

/** A run of an agent, or an attempt of a whole node that failed. */
export const Step = z
  .object({
    format: z.int(),
    step_number: z.int(),
    step_name: z.string(),
    agent_name: z.string(),
    attempt_number: z.int(),
    input_data: z.unknown(),
    output_data: z.unknown(),
    generated_code: Text,
    sandbox_id: Text,
    model_used: Text,
    ...{ tokens_input: z.int(), tokens_cached: z.int(), tokens_output: z.int(), cost_usd: z.number() },
    cost_notes: CostNotes,
    tool_calls: z.array(ToolCall),
    status: Status,
    error_class: z.string().optional(),
    error_message: Text,
    traceback: Text.optional(),
    logs: Text.optional(),
    execution_time_ms: Ms,
    run_time_ms: z.number().optional().meta({ description: "of these, the run of code in the sandbox" }),
    timestamp: Time,
    retry_delay_ms: z.number().optional().meta({
      description: "of a failed attempt that another one followed: how long that was waited for, with jitter at most",
    }),
    retry_jitter: z
      .boolean()
      .optional()
      .meta({ description: "the wait is drawn between nothing and `retry_delay_ms`" }),
    prompt: Text.optional().meta({ description: `what the model saw, ${full}` }),
    answer: Text.optional().meta({ description: `what it answered, ${full}` }),
  })
  .meta({ id: "Step", description: "what an agent of a prompt node did, or a failed attempt of a node" });

const AiMetadata = z
  .looseObject({
    model: Text,
    ...{ prompt: z.string(), prompt_task: z.string() },
    generated_code: Text,
    ...{ tokens_input: z.int(), tokens_cached: z.int(), tokens_output: z.int(), cost_usd: z.number() },
    cost_notes: CostNotes,
    generation_time_ms: Ms,
    execution_time_ms: Ms,
    total_time_ms: Ms,
    attempts: z.int(),
    cache_hit: z.boolean().meta({ description: "code that was written before ran; no model was asked" }),
  })
  .meta({ id: "AiMetadata", description: "of a prompt node, in one piece; all of it follows from entry and steps" });

const Changes = z
  .object({
    set: Context.meta({ description: "keys that the node set; numbers keep the digits that they were written with" }),
    delete: z.array(z.string()),
  })
  .meta({ id: "ContextChanges" });

const Branch = z
  .object({
    branch: z.string().meta({ description: "its first node, or the number of a map's item" }),
    scope: z.string(),
    get entries(): z.ZodArray<typeof ChainEntry> {
      return z.array(ChainEntry);
    },
  })
  .meta({ id: "ChainBranch", description: "a branch or an item, begun or not" });

const Child = z
  .object({
    execution_id: ExecutionId,
    workflow: WorkflowId,
    version: VersionNumber,
    get entries(): z.ZodOptional<z.ZodArray<typeof ChainEntry>> {
      return z.array(ChainEntry).optional();
    },
  })
  .meta({ id: "ChildExecution", description: `the run of another workflow; its entries ${full}` });

/** One link; fields are described in the guide to the chain of work. */
export const ChainEntry = z
  .object({
    execution_id: ExecutionId,
    ...Place,
    node_id: z.string(),
    node_type: z.string().meta({ description: "a type of the definition, `join` or `close`" }),
    status: Status,
    error_class: Text,
    error_message: Text,
    traceback: Text,
    decision_result: Text,
    path_taken: Text.meta({
      description: "the node that comes next; `<fork>.join` behind a fork, null at an item's end",
    }),
    attempt: z.int().meta({ description: "the attempt that counted, from 1" }),
    failed_deliveries: z
      .int()
      .optional()
      .meta({ description: "deliveries that came to nothing before the first attempt" }),
    execution_time_ms: z.number().meta({
      description:
        "of that attempt alone: the run of its code, of a prompt node all that its agents did; no waits, no earlier attempts",
    }),
    sandbox_id: Text,
    timestamp: Time.meta({ description: "when the outcome was known" }),
    ...{ hash: z.string(), prev: Text, code_hash: Text },
    reused_from: z
      .object({ execution_id: ExecutionId, ...Place })
      .nullable()
      .meta({ description: "the execution that came to this outcome, and its link there; nothing ran for it here" }),
    origin: z.object({ execution_id: ExecutionId, place: z.string() }).optional().meta({
      description:
        "of the first entry of a restart, or of an execution that a node runs: the first run, whose id NOVA_RESTART_KEY begins with, and what places here begin with there",
    }),
    resolved_hosts: z.record(z.string(), z.array(z.string())).optional(),
    changes: Changes,
    ai_metadata: AiMetadata.nullable(),
    steps: z
      .array(Step)
      .meta({ description: "of a prompt node what its agents did; and each failed attempt of a node" }),
    code_executed: Text.optional().meta({ description: `the code, or of a node without any its prompt; ${full}` }),
    input_context: Context.nullable().optional().meta({ description: full }),
    output_result: Context.nullable().optional().meta({ description: full }),
    logs: Text.optional().meta({ description: `what it printed, ${full}` }),
    child: Child.optional(),
    branches: z
      .array(Branch)
      .optional()
      .meta({ description: "of a fork's link: what ran in its branches, before the next entry" }),
  })
  .meta({ id: "ChainEntry" });
