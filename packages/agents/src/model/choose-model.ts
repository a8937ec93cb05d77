import type { Finding, ModelChoice, ModelRole, PromptExecutor, TextExecutor, Workflow } from "@nova/workflow";
import { finding, nodeIndex } from "@nova/workflow";
import { catalog, priceOf, retirementOf } from "./catalog.ts";
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

const rolesOfPrompts: readonly ModelRole[] = ["input_analyzer", "data_analyzer", "code_generator", "output_validator"];

/** Explains that a model without a price counts as free; null for a model with a price. */
export function explainMissingPrice(model: string): string | null {
  if (priceOf(model)) return null;
  return `model "${model}" has no price here and counts as $0, so max_cost_usd cannot be enforced - name a model with a price, or limit it at its provider`;
}

/**
 * Finds nodes with a budget whose models have no price (NOVA443). Parsing does not report them, because `fallback`
 * (`DEFAULT_MODEL`) depends on the environment in which the workflow runs.
 */
export function budgetsWithoutPrice(workflow: Workflow, fallback?: string): Finding[] {
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  return nodes.flatMap((node) => {
    if (!("executor" in node) || node.executor.kind === "code" || Object.hasOwn(workflow.lock ?? {}, node.id))
      return [];
    const { executor } = node;
    if (executor.maxCostUsd === undefined && workflow.maxCostUsd === undefined) return [];
    const models = new Set(modelsOf(executor, workflow, fallback));
    const [sentence] = Array.from(models, explainMissingPrice).filter((one) => one !== null);
    const at = workflow.nodes.indexOf(node);
    const isOwn = executor.maxCostUsd !== undefined && at >= 0;
    const path = isOwn ? `$.nodes[${at}].limits.max_cost_usd` : "$.limits.max_cost_usd";
    return sentence === undefined ? [] : [finding("NOVA443", path, `node "${node.id}": ${sentence}`)];
  });
}

function modelsOf(executor: PromptExecutor | TextExecutor, workflow: Workflow, fallback?: string): string[] {
  if (executor.kind === "prompt")
    return rolesOfPrompts.map((role) => chooseModel(role, executor.model, workflow.model, fallback));
  const own = executor.model === undefined ? undefined : { text: executor.model };
  return [chooseModel("text", own, workflow.model, fallback)];
}
