import type { Workflow } from "@nova/workflow";
import {
  type Finding,
  finding,
  type ModelRole,
  nodeIndex,
  type PromptExecutor,
  type TextExecutor,
} from "@nova/workflow";
import { priceOf } from "./catalog.ts";
import { chooseModel } from "./choose-model.ts";

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
