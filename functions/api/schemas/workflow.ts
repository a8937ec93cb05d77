import { type Generation, RawJson } from "@nova/engine";
import { type Principal, type Published, type ShownWorkflow, seenBy } from "@nova/service";
import { type Trigger, textOfJson, type Workflow } from "@nova/workflow";
import { z } from "zod";
import { Finding } from "./deployment.ts";
import { Time, VersionNumber, WorkflowId } from "./values.ts";

export const Status = z
  .enum(["publishing", "ready", "failed"])
  .meta({ description: "`publishing` while it waits for Step Functions; runs start once it is `ready`" });

const Reason = z.string().optional().meta({ description: "why it has `failed`" });

/** The definition itself, or `{definition, files}` where it names files. */
export const Definition = z.looseObject({
  definition: z.looseObject({}).optional(),
  files: z.record(z.string(), z.string()).optional(),
});

export const PublishedAnswer = z
  .object({
    id: WorkflowId,
    version: VersionNumber,
    status: Status,
    reason: Reason,
    findings: z.array(Finding).optional(),
  })
  .meta({ id: "PublishedWorkflow" });

export const WorkflowItem = z
  .object({
    id: WorkflowId,
    name: z.string(),
    version: VersionNumber,
    active_version: VersionNumber.nullable().meta({ description: "what new runs use; null until a version is ready" }),
    previous_version: VersionNumber.nullable().meta({ description: "what they used before; a rollback activates it" }),
    status: Status,
    reason: Reason,
    paused_at: Time.nullable().meta({ description: "since then new runs are queued; null: it is not paused" }),
    created_at: Time,
  })
  .meta({ id: "Workflow" });

export const WholeWorkflow = WorkflowItem.extend({
  hash: z.string(),
  definition: z.looseObject({}).meta({ description: "the normalised definition" }),
}).meta({ id: "WholeWorkflow" });

export const VersionItem = z
  .object({
    version: VersionNumber,
    status: Status,
    reason: Reason,
    active: z.boolean(),
    hash: z.string(),
    created_at: Time,
  })
  .meta({ id: "WorkflowVersion" });

export const Validated = z.object({ valid: z.boolean(), findings: z.array(Finding) }).meta({ id: "Validation" });

export function publishedAnswer({ id, version, findings, ...state }: Published) {
  return { id, version, ...stateOf(state), ...(findings.length > 0 && { findings }) };
}

/** What has no status is a version that runs use. */
function stateOf(version: object) {
  const { status = "ready", reason } = version as { status?: z.infer<typeof Status>; reason?: string };
  return { status, ...(reason !== undefined && { reason }) };
}

export function workflowItem({ version, active, previous, paused }: ShownWorkflow) {
  const { workflowId, workflow, createdAt } = version;
  return {
    id: workflowId,
    name: workflow.name,
    version: version.version,
    active_version: active,
    previous_version: previous,
    ...stateOf(version),
    paused_at: paused?.at ?? null,
    created_at: createdAt,
  };
}

export function wholeWorkflow(found: ShownWorkflow, by: Principal) {
  return { ...workflowItem(found), hash: found.version.hash, definition: shown(seenBy(by, found.version.workflow)) };
}

export function versionItem(found: ShownWorkflow["version"], active: number | null) {
  const { version, hash, createdAt } = found;
  return { version, ...stateOf(found), active: version === active, hash, created_at: createdAt };
}

/** What triggers hold of people's JSON comes as JSON, with its digits. */
function shown({ triggers, ...workflow }: Workflow) {
  return triggers ? { ...workflow, triggers: triggers.map(shownTrigger) } : workflow;
}

function shownTrigger(trigger: Trigger) {
  if (trigger.type === "event") return { ...trigger, pattern: new RawJson(textOfJson(trigger.pattern)) };
  if (trigger.type !== "schedule" || trigger.context === undefined) return trigger;
  return { ...trigger, context: new RawJson(textOfJson(trigger.context)) };
}

export const GenerationItem = z
  .object({
    node: z.string(),
    client_slug: z.string().nullable().meta({ description: "null: it runs for every client" }),
    status: z.enum(["candidate", "pinned", "replaced"]),
    key: z.string(),
    ingredients: z.looseObject({}).meta({ description: "everything that the code depends on" }),
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
  })
  .meta({ id: "Generation" });

export function generationItem(kept: Generation) {
  const { node, client, status, key, ingredients, code, codeHash, origin, model, cost, createdAt } = kept;
  return {
    ...{ node, client_slug: client, status, key, ingredients, code, code_hash: codeHash },
    analysis: kept.analysis ?? null,
    analysis_hash: kept.analysisHash ?? null,
    ...{ origin, model, cost, created_at: createdAt },
    proven_by: kept.provenBy ?? null,
    approved: kept.approved ?? null,
  };
}
