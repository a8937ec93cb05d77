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
  found: z.unknown().optional().meta({ description: "a summary of the result" }),
});

const CostNotes = z.array(z.string()).optional().meta({
  description:
    "why tokens and cost are not exact: they are estimated, or the model has no price; absent: they are exact",
});

/** A call of an agent, or a failed attempt of the whole node. */
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
    tokens_input: z.int(),
    tokens_cached: z.int(),
    tokens_output: z.int(),
    cost_usd: z.number(),
    cost_notes: CostNotes,
    tool_calls: z.array(ToolCall),
    status: Status,
    error_class: z.string().optional(),
    error_message: Text,
    traceback: Text.optional(),
    logs: Text.optional(),
    execution_time_ms: Ms,
    run_time_ms: z
      .number()
      .optional()
      .meta({ description: "the part of `execution_time_ms` for the code in the sandbox" }),
    timestamp: Time,
    retry_delay_ms: z.number().optional().meta({
      description: "for a failed attempt before another one: the wait between them; with jitter its maximum",
    }),
    retry_jitter: z.boolean().optional().meta({ description: "the wait is random between 0 and `retry_delay_ms`" }),
    prompt: Text.optional().meta({ description: `the question to the model, ${full}` }),
    answer: Text.optional().meta({ description: `the model's answer, ${full}` }),
  })
  .meta({ id: "Step", description: "a run of an agent of a prompt node, or a failed attempt of a node" });

const AiMetadata = z
  .looseObject({
    model: Text,
    prompt: z.string(),
    prompt_task: z.string(),
    generated_code: Text,
    tokens_input: z.int(),
    tokens_cached: z.int(),
    tokens_output: z.int(),
    cost_usd: z.number(),
    cost_notes: CostNotes,
    generation_time_ms: Ms,
    execution_time_ms: Ms,
    total_time_ms: Ms,
    attempts: z.int(),
    cache_hit: z.boolean().meta({ description: "the node ran existing code; NOVA asked no model" }),
  })
  .meta({ id: "AiMetadata", description: "a summary of a prompt node, computed from its entry and steps" });

const Changes = z
  .object({
    set: Context.meta({ description: "keys that the node set; numbers keep their digits" }),
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
  .meta({ id: "ChainBranch", description: "a branch or an item, also one that has not started" });

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

const Times = z
  .object({
    waiting_ms: z.number().meta({ description: "for a slot, an answer, an event, a time or a run" }),
    sandbox_ms: z.number().meta({ description: "to choose, create or extend the sandbox" }),
    model_ms: z.number().meta({ description: "in which models answered" }),
    code_ms: z.number().meta({ description: "in which code ran, in all attempts" }),
  })
  .meta({ id: "Times", description: "the recorded times of a node; all are 0 for a reused outcome" });

export const ChainEntry = z
  .object({
    execution_id: ExecutionId,
    ...Place,
    node_id: z.string(),
    node_type: z.string().meta({ description: "a type of the definition, `join`, `vote` or `close`" }),
    status: Status,
    error_class: Text,
    error_message: Text,
    traceback: Text,
    decision_result: Text,
    path_taken: Text.meta({
      description: "the next node; `<fork>.join` after a fork, null at the end of an item",
    }),
    attempt: z.int().meta({ description: "the attempt of the outcome, from 1" }),
    failed_deliveries: z.int().optional().meta({ description: "deliveries that ended before the first attempt" }),
    execution_time_ms: z.number().meta({
      description:
        "the time of that attempt: the run of its code, or of all agents of a prompt node; without waits and earlier attempts",
    }),
    times: Times,
    sandbox_id: Text,
    timestamp: Time.meta({ description: "the time of the outcome" }),
    hash: z.string(),
    prev: Text,
    code_hash: Text,
    reused_from: z
      .object({ execution_id: ExecutionId, ...Place })
      .nullable()
      .meta({ description: "the run and entry from which this outcome was reused; its node did not run here" }),
    origin: z.object({ execution_id: ExecutionId, place: z.string() }).optional().meta({
      description:
        "on the first entry of a restart or of an inner run: the first run, whose id starts NOVA_RESTART_KEY, and the prefix of places in it",
    }),
    edited: z
      .object({ by: z.string(), at: Time })
      .optional()
      .meta({ description: "who wrote the outcome by hand instead of running the node" }),
    patched: z
      .object({ keys: z.array(z.string()), by: z.string() })
      .optional()
      .meta({ description: "on the first entry of a restart: the replaced keys of the initial context, and by whom" }),
    resolved_hosts: z.record(z.string(), z.array(z.string())).optional(),
    changes: Changes,
    ai_metadata: AiMetadata.nullable(),
    steps: z.array(Step).meta({ description: "the runs of a prompt node's agents, and each failed attempt of a node" }),
    code_executed: Text.optional().meta({ description: `the code, or the prompt of a node without code; ${full}` }),
    input_context: Context.nullable().optional().meta({ description: full }),
    output_result: Context.nullable().optional().meta({ description: full }),
    logs: Text.optional().meta({ description: `the output of the code, ${full}` }),
    child: Child.optional(),
    branches: z.array(Branch).optional().meta({
      description:
        "on the entry of a fork: its branches, before the next entry; on that of an approval with approvers: its votes, in a branch `(votes)`",
    }),
    reply: z
      .object({
        text: z.string(),
        calls: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            arguments: z.string().meta({ description: "JSON, as the model wrote it" }),
            refused: z.string().optional().meta({ description: "what the model read instead of a result" }),
          }),
        ),
        unfit: z.string().optional().meta({ description: "why an answer without calls does not fit" }),
        code_failed: z
          .string()
          .optional()
          .meta({ description: "why the code of a compiled agent failed; from then on, its model is asked" }),
      })
      .nullable()
      .optional()
      .meta({
        description: "on an entry of type `agent` whose answer was not final: what its model said; null: erased",
      }),
    vote: z
      .looseObject({ kind: z.enum(["vote", "withdrawal", "delegation", "end"]), at: Time })
      .nullable()
      .optional()
      .meta({ description: "on an entry of type `vote`: who voted what, and how NOVA has proved it; null: erased" }),
  })
  .meta({ id: "ChainEntry" });
