import { conditionLabel, defaultLabel, type Edge, isSameJson } from "@nova/workflow";

export type Decision = Edge | { problem: string };

/**
 * Which edge a decision's `branch_decision` takes. `json` is its JSON text, undefined where the code set none. In this
 * order: the edge whose condition is exactly that value; booleans in their usual disguises (`True`, `"true"`, and 1 or
 * 0 where no edge is numeric); `"default"`; else a problem that lists the edges.
 */
export function decide(json: string | undefined, edges: readonly Edge[]): Decision {
  if (json === undefined) {
    return { problem: `the decision did not set context["branch_decision"] - set it to one of ${listed(edges)}` };
  }
  const value: unknown = JSON.parse(json);
  const truth = coercedBoolean(value, edges);
  const edge =
    edges.find(({ condition }) => isExactly(condition, json) && condition !== defaultLabel) ??
    edges.find(({ condition }) => truth !== undefined && booleanOf(condition) === truth) ??
    edges.find(({ condition }) => conditionLabel(condition) === defaultLabel);
  if (edge) return edge;
  const given = json.length > 80 ? `${json.slice(0, 77)}...` : json;
  const advice = `it leads on for ${listed(edges)}; add an edge with "default" for the rest`;
  return { problem: `no edge for branch_decision ${given} - ${advice}` };
}

/** Numbers are equal by value, to the last digit: 1 and 1.0 are. */
function isExactly(condition: Edge["condition"], json: string): boolean {
  return condition !== undefined && isSameJson(JSON.stringify(condition), json);
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  const lower = value.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

function coercedBoolean(value: unknown, edges: readonly Edge[]): boolean | undefined {
  const isBit = value === 0 || value === 1;
  if (isBit && !edges.some(({ condition }) => typeof condition === "number")) return value === 1;
  return booleanOf(value);
}

function listed(edges: readonly Edge[]): string {
  return edges.map(({ condition }) => JSON.stringify(condition ?? defaultLabel)).join(", ");
}
