import { WorkflowFields } from "../authored/workflow.ts";
import { checkPorts } from "../field-checks/ports.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { didYouMean } from "../findings/suggest.ts";
import type { Document } from "./document.ts";
import { findingsOf } from "./issues.ts";

const shape = 'write { "nodes": [...], "edges": [...] }';

/** What is wrong with `nodes` and `edges` as a whole. */
export function checkLists({ body, pathOf }: Document): Finding[] {
  return (["nodes", "edges"] as const).flatMap((field) => {
    const value = body[field];
    if (Array.isArray(value)) return [];
    const problem =
      value === undefined ? `has no ${field}${didYouMean(field, Object.keys(body))}` : `has ${field} that are no list`;
    return finding("NOVA103", value === undefined ? "$" : pathOf(field), `the workflow ${problem} - ${shape}`);
  });
}

const codes = {
  id: "NOVA108",
  timeout: "NOVA406",
  inputs: "NOVA501",
  network: "NOVA422",
  credentials: "NOVA423",
} as const;

/** Everything else at the top level. */
export function readFields({ body, pathOf }: Document): { fields?: WorkflowFields; findings: Finding[] } {
  const value = { ...body, nodes: [], edges: [] };
  const parsed = WorkflowFields.safeParse(value);
  const ports = checkPorts(body.network, "the workflow", (i) => at(pathOf("network"), "allow", i));
  if (parsed.success) return { fields: parsed.data, findings: [...ports] };
  const subject = {
    name: "the workflow",
    value,
    pathOf: (field?: string) => (field === undefined ? "$" : pathOf(field)),
    schema: WorkflowFields,
    codes,
  };
  return { findings: findingsOf(parsed.error.issues, subject) };
}
