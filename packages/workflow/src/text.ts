import { createHash } from "node:crypto";
import { isRawNumber } from "./json/exact.ts";
import type { ModelChoice, Workflow } from "./workflow.ts";

/** Canonical text: fields sorted, lists as they are. Two workflows with the same text are the same version. */
export function workflowText({ model, ...workflow }: Workflow): string {
  return JSON.stringify(sorted({ ...workflow, ...(model && { model: plainChoice(model) }) }));
}

/**
 * One id for every role is written as that id. It was a plain text before there were roles: versions from then keep
 * their hash.
 */
export function plainChoice(model: ModelChoice): ModelChoice | string {
  const { default: everyRole, ...roles } = model;
  return everyRole !== undefined && Object.keys(roles).length === 0 ? everyRole : model;
}

/** SHA-256 of the canonical text, in hexadecimal digits. */
export function workflowHash(workflow: Workflow): string {
  return createHash("sha256").update(workflowText(workflow)).digest("hex");
}

/**
 * The same of all that a run depends on. Triggers and mails about failures are around it: an export for a client leaves
 * out those of others, and its runs verify all the same.
 */
export function runHash(workflow: Workflow): string {
  const known = runHashes.get(workflow);
  if (known !== undefined) return known;
  const { triggers: _, onFailure: __, ...ran } = workflow;
  const hash = workflowHash(ran);
  runHashes.set(workflow, hash);
  return hash;
}

/** A version is read once and started often. */
const runHashes = new WeakMap<Workflow, string>();

/** The same value however an object was put together: fields sorted, lists and digits as they are. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inside]) => [name, sorted(inside)]));
}
