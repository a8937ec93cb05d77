import type { ModelChoice, ModelRole } from "@nova/workflow";
import { catalog, retirementOf } from "./catalog.ts";
import { ModelError } from "./model-error.ts";

/**
 * Chooses the model of a role: the node's, else the workflow's, else `fallback` (`DEFAULT_MODEL`), else the catalog's.
 * A choice for the role has precedence over `default`.
 */
export function chooseModel(role: ModelRole, node?: ModelChoice, workflow?: ModelChoice, fallback?: string): string {
  return choiceFor(role, node) ?? choiceFor(role, workflow) ?? (fallback || catalog.defaults[role]);
}

/**
 * Like `chooseModel`, but throws a `ModelError` that names the successor if the model has retired by `now`
 * (milliseconds).
 */
export function requireModel(
  role: ModelRole,
  node?: ModelChoice,
  workflow?: ModelChoice,
  fallback?: string,
  now: number = Date.now(),
): string {
  const model = chooseModel(role, node, workflow, fallback);
  const retirement = retirementOf(model);
  if (retirement && Date.parse(retirement.on) <= now) {
    throw new ModelError(
      "retired",
      `model "${model}" of the ${role} was retired on ${retirement.on} - name its successor "${retirement.successor}" in the node's or workflow's model, or in DEFAULT_MODEL`,
    );
  }
  return model;
}

function choiceFor(role: ModelRole, choice: ModelChoice | undefined): string | undefined {
  return choice?.[role] ?? choice?.default;
}
