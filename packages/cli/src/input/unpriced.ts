import type { Finding, ParsedWorkflow } from "@nova/workflow";

/** Finds NOVA443, with the `DEFAULT_MODEL` of this process. */
export async function findUnpriced({ workflow }: Pick<ParsedWorkflow, "workflow">): Promise<Finding[]> {
  if (!workflow) return [];
  const { budgetsWithoutPrice } = await import("@nova/agents");
  return budgetsWithoutPrice(workflow, process.env.DEFAULT_MODEL);
}
