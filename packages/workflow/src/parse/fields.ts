import { checkPorts } from "../authored/field-check.ts";
import { WorkflowFields } from "../authored/workflow.ts";
import { at, didYouMean, type Finding, finding } from "../findings/finding.ts";
import type { Document } from "./document.ts";
import { findingsOf } from "./issues.ts";
import { withoutNullModel } from "./nodes.ts";
import type { WorkflowSource } from "./read.ts";

const shape = 'write { "nodes": [...], "edges": [...] }';

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

export function readFields({ body, pathOf }: Document): { fields?: WorkflowFields; findings: Finding[] } {
  const value = { ...withoutNullModel(body), nodes: [], edges: [] };
  const parsed = WorkflowFields.safeParse(value);
  const ports = checkPorts(body.network, "the workflow", (i) => at(pathOf("network"), "allow", i));
  if (parsed.success) return { fields: parsed.data, findings: [...ports] };
  const subject = { name: "the workflow", value, path: "$", pathOf, schema: WorkflowFields, codes };
  return { findings: findingsOf(parsed.error.issues, subject) };
}

const longest = 64;

/** Converts a text to lower-case letters, digits and dashes: "Facturación V3" -> "facturacion-v3". */
export function slugOf(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

export function identityOf({ body, pathOf }: Document, { folder = "" }: WorkflowSource) {
  const written = ["id", "name"].filter((field) => slugOf(textOf(body[field])) !== "");
  const id = slugOf([...written.map((field) => textOf(body[field])), folder].find((text) => slugOf(text) !== "") ?? "");
  const name = typeof body.name === "string" && body.name !== "" ? body.name : textOf(body.id) || folder || id;
  const path = written[0] === undefined ? "$" : pathOf(written[0]);
  return { id, name, findings: checkId(id, path) };
}

function checkId(id: string, path: string): Finding[] {
  if (id === "") return [finding("NOVA108", path, 'the workflow has no id - add "id" with letters or digits')];
  if (id.length <= longest) return [];
  const message = `the workflow's id "${id}" is longer than ${longest} characters - add a shorter "id"`;
  return [finding("NOVA108", path, message)];
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
