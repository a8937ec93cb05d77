import { z } from "zod";
import { Context, ExecutionId, named, Time, VersionNumber, WorkflowId } from "./values.ts";

export const Place = { seq: z.int(), scope: z.string() };

const Status = z.enum(["success", "failed"]);
const Text = z.string().nullable();
const Ms = z.number().describe("milliseconds");
const full = "with `full` alone";

const ToolCall = z.object({
  function: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  found: z.unknown().optional().describe("a summary of the result"),
});

const CostNotes = z
  .array(z.string())
  .optional()
  .describe("why tokens and cost are not exact: they are estimated, or the model has no price; absent: they are exact");

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
    run_time_ms: z.number().optional().describe("the part of `execution_time_ms` for the code in the sandbox"),
    timestamp: Time,
    retry_delay_ms: z
      .number()
      .optional()
      .describe("for a failed attempt before another one: the wait between them; with jitter its maximum"),
    retry_jitter: z.boolean().optional().describe("the wait is random between 0 and `retry_delay_ms`"),
    prompt: Text.optional().describe(`the question to the model, ${full}`),
    answer: Text.optional().describe(`the model's answer, ${full}`),
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
    cache_hit: z.boolean().describe("the node ran existing code; NOVA asked no model"),
  })
  .meta({ id: "AiMetadata", description: "a summary of a prompt node, computed from its entry and steps" });

const Changes = named("ContextChanges", {
  set: Context.describe("keys that the node set; numbers keep their digits"),
  delete: z.array(z.string()),
});

const Branch = z
  .object({
    branch: z.string().describe("its first node, or the number of a map's item"),
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
    waiting_ms: z.number().describe("for a slot, an answer, an event, a time or a run"),
    sandbox_ms: z.number().describe("to choose, create or extend the sandbox"),
    model_ms: z.number().describe("in which models answered"),
    code_ms: z.number().describe("in which code ran, in all attempts"),
  })
  .meta({ id: "Times", description: "the recorded times of a node; all are 0 for a reused outcome" });

export const ChainEntry = z
  .object({
    execution_id: ExecutionId,
    ...Place,
    node_id: z.string(),
    node_type: z.string().describe("a type of the definition, `join`, `vote` or `close`"),
    status: Status,
    error_class: Text,
    error_message: Text,
    traceback: Text,
    decision_result: Text,
    path_taken: Text.describe("the next node; `<fork>.join` after a fork, null at the end of an item"),
    attempt: z.int().describe("the attempt of the outcome, from 1"),
    failed_deliveries: z.int().optional().describe("deliveries that ended before the first attempt"),
    execution_time_ms: z
      .number()
      .describe(
        "the time of that attempt: the run of its code, or of all agents of a prompt node; without waits and earlier attempts",
      ),
    times: Times,
    sandbox_id: Text,
    timestamp: Time.describe("the time of the outcome"),
    hash: z.string(),
    prev: Text,
    code_hash: Text,
    reused_from: z
      .object({ execution_id: ExecutionId, ...Place })
      .nullable()
      .describe("the run and entry from which this outcome was reused; its node did not run here"),
    origin: z
      .object({ execution_id: ExecutionId, place: z.string() })
      .optional()
      .describe(
        "on the first entry of a restart or of an inner run: the first run, whose id starts NOVA_RESTART_KEY, and the prefix of places in it",
      ),
    edited: z
      .object({ by: z.string(), at: Time })
      .optional()
      .describe("who wrote the outcome by hand instead of running the node"),
    patched: z
      .object({ keys: z.array(z.string()), by: z.string() })
      .optional()
      .describe("on the first entry of a restart: the replaced keys of the initial context, and by whom"),
    resolved_hosts: z.record(z.string(), z.array(z.string())).optional(),
    changes: Changes,
    ai_metadata: AiMetadata.nullable(),
    steps: z.array(Step).describe("the runs of a prompt node's agents, and each failed attempt of a node"),
    code_executed: Text.optional().describe(`the code, or the prompt of a node without code; ${full}`),
    input_context: Context.nullable().optional().describe(full),
    output_result: Context.nullable().optional().describe(full),
    logs: Text.optional().describe(`the output of the code, ${full}`),
    child: Child.optional(),
    branches: z
      .array(Branch)
      .optional()
      .describe(
        "on the entry of a fork: its branches, before the next entry; on that of an approval with approvers: its votes, in a branch `(votes)`",
      ),
    reply: z
      .object({
        text: z.string(),
        calls: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            arguments: z.string().describe("JSON, as the model wrote it"),
            refused: z.string().optional().describe("what the model read instead of a result"),
          }),
        ),
        unfit: z.string().optional().describe("why an answer without calls does not fit"),
        code_failed: z
          .string()
          .optional()
          .describe("why the code of a compiled agent failed; from then on, its model is asked"),
      })
      .nullable()
      .optional()
      .describe("on an entry of type `agent` whose answer was not final: what its model said; null: erased"),
    vote: z
      .looseObject({ kind: z.enum(["vote", "withdrawal", "delegation", "end"]), at: Time })
      .nullable()
      .optional()
      .describe("on an entry of type `vote`: who voted what, and how NOVA has proved it; null: erased"),
  })
  .meta({ id: "ChainEntry" });
