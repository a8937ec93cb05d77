import type { Execution, Trace, Verification } from "@nova/engine";
import { z } from "zod";
import { Place, Step } from "./chain.ts";
import { Context, ExecutionId, Slug, Time, VersionNumber, WorkflowId } from "./values.ts";
import { viewOf } from "./view.ts";

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
  .meta({ description: "that they have: `order=PO-10`" });

export const ExecutionItem = z
  .object({
    execution_id: ExecutionId,
    workflow: WorkflowId,
    version: VersionNumber,
    client: Slug,
    status: ExecutionStatus,
    started_at: Time,
    ended_at: Time.nullable(),
    duration_ms: z.number().nullable(),
    error: RunError,
    nodes: z.int().nullable().meta({ description: "runs of code, once it is over" }),
    spent: Spent.meta({ description: "on models, once it is over" }),
    parent: ParentPlace.nullable().meta({ description: "the node that runs it, in another execution" }),
    trigger: z
      .string()
      .nullable()
      .meta({ description: "of its workflow, that started it; null: somebody asked for it" }),
    labels: z
      .record(z.string(), z.string())
      .meta({ description: "business keys by which it is found, as its workflow names them" }),
    restarts: z.array(ExecutionId).meta({ description: "executions that take over its outcomes, the oldest first" }),
    restarted_from: ExecutionId.nullable().meta({ description: "the execution whose outcomes it takes over" }),
  })
  .meta({ id: "Execution" });

const NodeAtWork = z
  .object({
    node_id: z.string(),
    node_type: z.string().nullable(),
    ...Place,
    attempt: z.int().meta({ description: "counts from 1" }),
    since: Time,
    waits_for: z
      .looseObject({ kind: z.enum(["approval", "event", "retry", "time", "workflow"]), until: Time.nullable() })
      .nullable()
      .meta({
        description:
          "null where code runs or is written; `task_id`, `message`, `choices`, `pattern`, `execution_id` by kind",
      }),
    attempts: z
      .array(Step)
      .optional()
      .meta({ description: "its attempts that have failed, as its entry will list them; absent where none has" }),
  })
  .meta({ id: "NodeAtWork" });

const MapProgress = z
  .object({ node_id: z.string(), ...Place, items: z.int(), done: z.int(), failed: z.int() })
  .meta({ id: "MapProgress", description: "`done` counts the items that failed, too" });

const AtWork = z
  .object({ count: z.int(), nodes: z.array(NodeAtWork), maps: z.array(MapProgress) })
  .meta({ id: "AtWork", description: "`count` nodes, of which `nodes` are the 20 that began first; open maps" });

export const WholeExecution = ExecutionItem.extend({
  context: Context.meta({ description: "numbers keep the digits that they were written with" }),
  path: z.array(z.string()).meta({ description: "nodes in the order in which they ran" }),
  at_work: AtWork,
  state_machine_pages: z.array(z.string()).meta({
    description:
      "where the console of Step Functions shows it: its execution there, and further ones that its loops went on in; empty on a machine of one's own",
  }),
}).meta({ id: "WholeExecution" });

export const Started = z
  .object({ execution_id: ExecutionId, status: ExecutionStatus })
  .meta({ id: "StartedExecution" });

export const Erased = z
  .object({
    execution_id: ExecutionId,
    erased: z.array(ExecutionId).meta({ description: "it, and everything that was restarted from it" }),
  })
  .meta({ id: "ErasedExecution" });

export const Restarted = Started.extend({ restarted_from: ExecutionId }).meta({ id: "RestartedExecution" });

const Places = z.array(z.string());

export const RestartForecast = z
  .object({
    reused: Places.meta({ description: "places whose outcomes are taken over: `find`, `poll#2`, `each[3].find`" }),
    runs: Places.meta({ description: "places that run; `each[*].find` where the items are not known yet" }),
    again: Places.meta({ description: "of these, those that have run before and may have effects" }),
    misfits: z.array(z.string()).meta({ description: "why the version does not fit what is taken over" }),
    estimate: z
      .object({ cost_usd: z.number(), execution_time_ms: z.number() })
      .meta({ description: "what the places that run have cost and taken in the execution" }),
  })
  .meta({ id: "RestartForecast" });

/** What code that runs has printed. */
export const Printed = z
  .object({
    text: z.string(),
    left_out: z.int().meta({ description: "bytes before the text that are not kept" }),
    next: z
      .string()
      .nullable()
      .meta({ description: "`after` of the next request; null where no code of the link runs" }),
  })
  .meta({ id: "Printed" });

const Problem = { seq: z.int(), scope: z.string().optional(), execution: z.string().optional() };

export const Verified = z
  .object({
    execution_id: ExecutionId,
    state: z.enum(["open", "anchored", "broken"]),
    links: z.int(),
    erased: z.array(z.looseObject({ ...Problem, content: z.string() })),
    source_gone: z.array(ExecutionId).meta({
      description: "executions whose outcomes it took over, and which are not there any more, or were erased",
    }),
    problem: z.looseObject({ ...Problem, message: z.string() }).nullable(),
  })
  .meta({ id: "Verification" });

export function verified(id: string, { sourceGone, problem, ...found }: Verification) {
  return { execution_id: id, ...found, source_gone: sourceGone, problem: problem ?? null };
}

function both<T extends z.ZodType>(value: T, description: string) {
  return z
    .object({ was: value.nullable(), is: value.nullable() })
    .meta({ description: `${description}; \`was\` in the first execution, \`is\` in the second` });
}

function sameOrNot(description: string) {
  return both(z.string(), description).extend({ same: z.boolean() });
}

/** How one node ran in two executions. */
export const NodeDiff = z
  .object({
    place: z.string().meta({
      description:
        "`find`; `poll#2` its second visit; `each[3].find` in an item; `billing/send` in a run that a node ran",
    }),
    path: z.enum(["both", "only_a", "only_b"]).meta({ description: "which of the two came to it" }),
    definition: sameOrNot("SHA-256 of the node's settings without its code"),
    code: sameOrNot("SHA-256 of the code that ran, null where none did"),
    context: z.array(z.object({ key: z.string(), was: z.unknown(), is: z.unknown() })).meta({
      description:
        "keys with which it left the context otherwise, null where it did not set them; a failure is the key `error`, a choice `branch_decision`; secrets are masked, large values references",
    }),
    cost: both(
      z.object({ cost_usd: z.number(), execution_time_ms: z.number() }),
      "what models cost and how long it ran, null where it did not",
    ),
  })
  .meta({ id: "NodeDiff" });

export function executionItem(execution: Execution) {
  const { id, workflowId, parent, restarts = [], labels = {} } = execution;
  const inside = parent ? viewOf(ParentPlace, parent, { execution_id: parent.execution }) : null;
  return viewOf(ExecutionItem, execution, {
    execution_id: id,
    workflow: workflowId,
    parent: inside,
    restarts: restarts.toSorted(),
    labels,
  });
}

export function wholeExecution({ execution, context, path, atWork, pages }: Trace) {
  return { ...executionItem(execution), context, path, at_work: atWork, state_machine_pages: pages };
}
