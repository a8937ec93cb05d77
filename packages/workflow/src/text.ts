import { createHash } from "node:crypto";
import { isRawNumber } from "./json/exact.ts";
import type { ModelChoice, Workflow } from "./workflow.ts";

/** Canonical text: fields sorted, lists unchanged. Two workflows with the same text are the same version. */
export function workflowText({ model, ...workflow }: Workflow): string {
  return JSON.stringify(sorted({ ...workflow, ...(model && { model: plainChoice(model) }) }));
}

/** Writes one id for every role as that id alone. */
export function plainChoice(model: ModelChoice): ModelChoice | string {
  const { default: everyRole, ...roles } = model;
  return everyRole !== undefined && Object.keys(roles).length === 0 ? everyRole : model;
}

/** SHA-256 of the canonical text, in hexadecimal digits. */
export function workflowHash(workflow: Workflow): string {
  return createHash("sha256").update(workflowText(workflow)).digest("hex");
}

/**
 * SHA-256 of everything that a run depends on. Triggers and failure mails are left out, so an export for one client can
 * leave out those of others and its runs still verify.
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

/** Returns the value with sorted fields, so that equal objects have equal texts. Lists and digits stay unchanged. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inside]) => [name, sorted(inside)]));
}
