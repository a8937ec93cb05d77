import type { Execution, RunState, Verification } from "@nova/engine";
import { z } from "zod";
import { Place, Step } from "./chain.ts";
import { Context, ExecutionId, named, Slug, Time, VersionNumber, viewOf, WorkflowId } from "./values.ts";

export const ExecutionStatus = z.enum([
  "queued",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
]);

const Spent = z
  .object({ cost_usd: z.number(), tokens_input: z.int(), tokens_cached: z.int(), tokens_output: z.int() })
  .nullable();

const ParentPlace = z.object({ execution_id: ExecutionId, scope: z.string(), seq: z.int() });

const RunError = z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable();

/** A label as people write it: `order=PO-10`. */
export const LabelText = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}=[\s\S]{1,400}$/u, "it has to be a label, such as order=PO-10")
  .transform((text) => ({ name: text.slice(0, text.indexOf("=")), value: text.slice(text.indexOf("=") + 1) }))
  .describe("a label of the runs: `order=PO-10`");

/** Schema of one or several statuses, separated by commas. */
export const ExecutionStatuses = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(ExecutionStatus).max(ExecutionStatus.options.length))
  .meta({ description: "one of several statuses: `failed,interrupted`", override: { type: "string" } });

export const ExecutionItem = named("Execution", {
  execution_id: ExecutionId,
  workflow: WorkflowId,
  version: VersionNumber,
  client: Slug,
  status: ExecutionStatus,
  started_at: Time,
  ended_at: Time.nullable(),
  duration_ms: z.number().nullable(),
  error: RunError,
  nodes: z.int().nullable().describe("runs of code; null until it is over"),
  spent: Spent.describe("spent on models; null until it is over"),
  parent: ParentPlace.nullable().describe("the node of another run that runs it"),
  trigger: z.string().nullable().describe("the trigger of its workflow that started it; null: a caller started it"),
  labels: z.record(z.string(), z.string()).describe("business keys that find it, named by its workflow"),
  restarts: z.array(ExecutionId).describe("runs that reuse its outcomes, the oldest first"),
  restarted_from: ExecutionId.nullable().describe("the run whose outcomes it reuses"),
});

const NodeAtWork = named("NodeAtWork", {
  node_id: z.string(),
  node_type: z.string().nullable(),
  ...Place,
  attempt: z.int().describe("counts from 1"),
  since: Time,
  waits_for: z
    .looseObject({ kind: z.enum(["approval", "event", "retry", "time", "workflow"]), until: Time.nullable() })
    .nullable()
    .describe(
      "null while code runs or a model writes it; `task_id`, `message`, `choices`, `pattern`, `execution_id` by kind",
    ),
  attempts: z.array(Step).optional().describe("its failed attempts, as its entry will list them; absent without any"),
});

const MapProgress = z
  .object({ node_id: z.string(), ...Place, items: z.int(), done: z.int(), failed: z.int() })
  .meta({ id: "MapProgress", description: "`done` includes failed items" });

const AtWork = z
  .object({ count: z.int(), nodes: z.array(NodeAtWork), maps: z.array(MapProgress) })
  .meta({ id: "AtWork", description: "the number of nodes at work, the 20 that started first, and open maps" });

export const WholeExecution = ExecutionItem.extend({
  context: Context.describe("numbers keep their digits"),
  path: z.array(z.string()).describe("nodes in the order in which they ran"),
  at_work: AtWork,
  started_by: z
    .string()
    .nullable()
    .describe("the name of the person who started it; null: a trigger, another run, or a key without a person"),
  state_machine_pages: z
    .array(z.string())
    .describe(
      "pages of the console of Step Functions: its execution there, and further ones in which its loops continue; empty on a laptop",
    ),
}).meta({ id: "WholeExecution" });

export const Started = named("StartedExecution", { execution_id: ExecutionId, status: ExecutionStatus });

export const Erased = named("ErasedExecution", {
  execution_id: ExecutionId,
  erased: z.array(ExecutionId).describe("the run, and all its restarts"),
});

export const Restarted = Started.extend({ restarted_from: ExecutionId }).meta({ id: "RestartedExecution" });

const Places = z.array(z.string());

export const RestartForecast = named("RestartForecast", {
  reused: Places.describe("places whose outcomes are reused: `find`, `poll#2`, `each[3].find`"),
  runs: Places.describe("places that run; `each[*].find` while the items are unknown"),
  again: Places.describe("places among `runs` that ran before and may have effects"),
  misfits: z.array(z.string()).describe("the reasons why the version does not fit the reused outcomes"),
  estimate: z
    .object({ cost_usd: z.number(), execution_time_ms: z.number() })
    .describe("cost and time of the running places in the earlier run"),
});

export const Printed = named("Printed", {
  text: z.string(),
  left_out: z.int().describe("bytes before the text that were dropped"),
  next: z.string().nullable().describe("`after` of the next request; null if no code of the entry runs"),
});

const Problem = { seq: z.int(), scope: z.string().optional(), execution: z.string().optional() };

export const Verified = named("Verification", {
  execution_id: ExecutionId,
  state: z.enum(["open", "anchored", "broken"]),
  links: z.int(),
  erased: z.array(z.looseObject({ ...Problem, content: z.string() })),
  source_gone: z.array(ExecutionId).describe("runs whose outcomes it reused, and which are gone or erased"),
  problem: z.looseObject({ ...Problem, message: z.string() }).nullable(),
});

export function verified(id: string, { sourceGone, problem, ...found }: Verification) {
  return { execution_id: id, ...found, source_gone: sourceGone, problem: problem ?? null };
}

function both<T extends z.ZodType>(value: T, description: string) {
  return z
    .object({ was: value.nullable(), is: value.nullable() })
    .describe(`${description}; \`was\` in the first run, \`is\` in the second`);
}

function sameOrNot(description: string) {
  return both(z.string(), description).extend({ same: z.boolean() });
}

export const NodeDiff = named("NodeDiff", {
  place: z
    .string()
    .describe("`find`; `poll#2` its second visit; `each[3].find` in an item; `billing/send` in a run that a node ran"),
  path: z.enum(["both", "only_a", "only_b"]).describe("which of the two runs reached it"),
  definition: sameOrNot("SHA-256 of the node's settings without its code"),
  code: sameOrNot("SHA-256 of the code that ran, null if none ran"),
  context: z
    .array(z.object({ key: z.string(), was: z.unknown(), is: z.unknown() }))
    .describe(
      "keys that it set differently, null if it did not set them; a failure is the key `error`, a choice `branch_decision`; secrets are masked, large values are references",
    ),
  cost: both(
    z.object({ cost_usd: z.number(), execution_time_ms: z.number() }),
    "cost of models and run time, null if it did not run",
  ),
});

export function executionItem(execution: Execution) {
  const { id, workflowId, parent, restarts = [], sessionRuns = [], labels = {} } = execution;
  const inside = parent ? viewOf(ParentPlace, parent, { execution_id: parent.execution }) : null;
  return viewOf(ExecutionItem, execution, {
    execution_id: id,
    workflow: workflowId,
    parent: inside,
    restarts: restarts.filter((restart) => !sessionRuns.includes(restart)).toSorted(),
    labels,
  });
}

export function wholeExecution({ execution, context, path, atWork, startedBy, pages }: RunState) {
  const more = { context, path, at_work: atWork, started_by: startedBy, state_machine_pages: pages };
  return { ...executionItem(execution), ...more };
}
