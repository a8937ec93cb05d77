import type { Generation } from "@nova/engine";
import { type Principal, type Published, redactWorkflow, type ShownWorkflow } from "@nova/service";
import type { Body, Node, Trigger } from "@nova/workflow";
import { z } from "zod";

import { exactJson, Finding, named, Slots, Slug, Time, VersionNumber, viewOf, WorkflowId } from "./values.ts";

export const Status = z
  .enum(["publishing", "ready", "failed"])
  .describe("`publishing` while it waits for Step Functions; runs start when it is `ready`");

const Reason = z.string().optional().describe("the reason of `failed`");

/**
 * The body of a publication: the definition, or `{definition, files}` with the texts of the files that the definition
 * names.
 */
export const Definition = z.looseObject({
  definition: z.looseObject({}).optional(),
  files: z.record(z.string(), z.string()).optional(),
});

export const PublishedAnswer = named("PublishedWorkflow", {
  id: WorkflowId,
  version: VersionNumber,
  status: Status,
  reason: Reason,
  findings: z.array(Finding).optional(),
});

export const WorkflowItem = named("Workflow", {
  id: WorkflowId,
  name: z.string(),
  version: VersionNumber,
  active_version: VersionNumber.nullable().describe("the version of new runs; null until a version is ready"),
  previous_version: VersionNumber.nullable().describe("the version before it; a rollback activates it"),
  status: Status,
  reason: Reason,
  paused_at: Time.nullable().describe("start of the pause, since which new runs are queued; null: not paused"),
  created_at: Time,
});

export const WholeWorkflow = WorkflowItem.extend({
  hash: z.string(),
  definition: z.looseObject({}).describe("the normalised definition"),
}).meta({ id: "WholeWorkflow" });

export const VersionItem = named("WorkflowVersion", {
  version: VersionNumber,
  status: Status,
  reason: Reason,
  active: z.boolean(),
  hash: z.string(),
  created_at: Time,
});

export const Validated = named("Validation", { valid: z.boolean(), findings: z.array(Finding) });

export function publishStatus({ status, created }: Pick<Published, "status" | "created">): 200 | 201 | 202 {
  if (status !== "ready") return 202;
  return created ? 201 : 200;
}

export function publishedAnswer(found: Published) {
  return viewOf(PublishedAnswer, found, { findings: found.findings.length > 0 ? found.findings : undefined });
}

/** Returns the status of a version. A version without a stored status is ready. */
function stateOf(version: object) {
  const { status = "ready", reason } = version as { status?: z.output<typeof Status>; reason?: string };
  return { status, reason };
}

function workflowFields({ version, active, previous, paused }: ShownWorkflow) {
  const { workflowId: id, workflow, version: number } = version;
  const versions = { version: number, active_version: active, previous_version: previous };
  return { id, name: workflow.name, ...versions, ...stateOf(version), paused_at: paused?.at };
}

export function workflowItem(found: ShownWorkflow) {
  return viewOf(WorkflowItem, found.version, workflowFields(found));
}

export function wholeWorkflow(found: ShownWorkflow, by: Principal) {
  const { version } = found;
  const { triggers, ...workflow } = redactWorkflow(by, version.workflow);
  return viewOf(WholeWorkflow, version, {
    ...workflowFields(found),
    // Converts nodes, inputs and triggers in a way that keeps the digits of the numbers in their JSON.
    definition: {
      ...workflow,
      nodes: workflow.nodes.map(shownNode),
      ...(workflow.inputs && { inputs: exactJson(workflow.inputs) }),
      ...(triggers && { triggers: triggers.map(shownTrigger) }),
    },
  });
}

export function versionItem(found: ShownWorkflow["version"], active: number | null) {
  return viewOf(VersionItem, found, { ...stateOf(found), active: found.version === active });
}

function shownNode({ inputSchema, ...node }: Node): object {
  return { ...shownFields(node), ...(inputSchema && { inputSchema: exactJson(inputSchema) }) };
}

function shownFields(node: Node): object {
  if (node.type === "map") return { ...node, body: shownBody(node.body) };
  if (node.type === "approval") {
    const { form, forms = {}, ...same } = node;
    const own = Object.entries(forms).map(([choice, one]) => [choice, exactJson(one)]);
    return { ...same, ...(form && { form: exactJson(form) }), ...(node.forms && { forms: Object.fromEntries(own) }) };
  }
  const body = node.type === "agent" && { body: shownBody(node.body) };
  if (!("executor" in node) || node.executor.kind !== "text" || !node.executor.outputSchema)
    return { ...node, ...body };
  return { ...node, executor: { ...node.executor, outputSchema: exactJson(node.executor.outputSchema) }, ...body };
}

function shownBody(body: Body): object {
  return { ...body, nodes: body.nodes.map(shownNode) };
}

function shownTrigger(trigger: Trigger) {
  if (trigger.type === "event") return { ...trigger, pattern: exactJson(trigger.pattern) };
  if (trigger.type !== "schedule" || trigger.context === undefined) return trigger;
  return { ...trigger, context: exactJson(trigger.context) };
}

export const GenerationItem = named("Generation", {
  node: z.string(),
  client_slug: z.string().nullable().describe("null: it runs for every client"),
  status: z.enum(["candidate", "pinned", "replaced"]),
  key: z.string(),
  ingredients: z.looseObject({}).describe("everything on which the code depends"),
  code: z.string(),
  code_hash: z.string(),
  analysis: z.string().nullable(),
  analysis_hash: z.string().nullable(),
  origin: z.enum(["generated", "edited"]),
  model: z.string(),
  cost: z.object({
    usd: z.number(),
    tokens_input: z.number(),
    tokens_cached: z.number(),
    tokens_output: z.number(),
  }),
  created_at: Time,
  proven_by: z.string().nullable(),
  approved: z.object({ by: z.string(), at: z.string() }).nullable(),
});

export const generationItem = (kept: Generation) => viewOf(GenerationItem, kept, { client_slug: kept.client });

const Digest = z.string().regex(/^[0-9a-f]{64}$/, "it has to be a SHA-256 in hex");

/** A review of generated code. It identifies the code by the same fields as the list of generations. */
export const ReviewBody = z
  .strictObject({
    node: z.string().min(1).max(200),
    client_slug: Slug.nullish().describe("as in the generation"),
    key: Digest,
    code_hash: Digest,
    verdict: z.enum(["approved", "rejected"]),
  })
  .meta({ id: "CodeReview" });

export const WorkflowQuotasBody = z
  .strictObject({
    max_concurrent: Slots.describe("simultaneous runs, of all clients together; others are `queued`"),
    max_concurrent_per_client: Slots.describe("simultaneous runs of each client"),
  })
  .meta({ id: "WorkflowQuotas", description: "null or absent: no limit" });
