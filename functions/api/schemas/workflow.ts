import type { WorkflowVersion } from "@nova/engine";
import type { FoundWorkflow, Published } from "@nova/service";
import { z } from "zod";
import { Finding } from "./problem.ts";
import { Time, VersionNumber, WorkflowId } from "./values.ts";

export const Status = z
  .enum(["publishing", "ready", "failed"])
  .meta({ description: "`publishing` while it waits for Step Functions; runs start once it is `ready`" });

/** The definition itself, or `{definition, files}` where it names files. */
export const Definition = z.looseObject({
  definition: z.looseObject({}).optional(),
  files: z.record(z.string(), z.string()).optional(),
});

export const PublishedAnswer = z
  .object({ id: WorkflowId, version: VersionNumber, status: Status, findings: z.array(Finding).optional() })
  .meta({ id: "PublishedWorkflow" });

export const WorkflowItem = z
  .object({
    id: WorkflowId,
    name: z.string(),
    version: VersionNumber,
    active_version: VersionNumber.meta({ description: "what new runs use" }),
    status: Status,
    created_at: Time,
  })
  .meta({ id: "Workflow" });

export const WholeWorkflow = WorkflowItem.extend({
  hash: z.string(),
  definition: z.looseObject({}).meta({ description: "the normalised definition" }),
}).meta({ id: "WholeWorkflow" });

export const VersionItem = z
  .object({ version: VersionNumber, status: Status, active: z.boolean(), hash: z.string(), created_at: Time })
  .meta({ id: "WorkflowVersion" });

export const Validated = z.object({ valid: z.boolean(), findings: z.array(Finding) }).meta({ id: "Validation" });

export function publishedAnswer({ id, version, status, findings }: Published) {
  return { id, version, status, ...(findings.length > 0 && { findings }) };
}

export function workflowItem({ version, active }: FoundWorkflow) {
  const { workflowId, workflow, createdAt } = version;
  return {
    id: workflowId,
    name: workflow.name,
    version: version.version,
    active_version: active,
    status: "ready",
    created_at: createdAt,
  };
}

export function wholeWorkflow(found: FoundWorkflow) {
  return { ...workflowItem(found), hash: found.version.hash, definition: found.version.workflow };
}

export function versionItem({ version, hash, createdAt }: WorkflowVersion, active: number) {
  return { version, status: "ready", active: version === active, hash, created_at: createdAt };
}
