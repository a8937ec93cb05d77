import { type Finding, finding } from "../findings/finding.ts";
import type { Document } from "./document.ts";
import type { WorkflowSource } from "./source.ts";

const longest = 64;

/** Lower case, digits and dashes: "Facturación V3" -> "facturacion-v3". */
export function slugOf(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

/** Id and name of the workflow. */
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
  return [
    finding("NOVA108", path, `the workflow's id "${id}" is longer than ${longest} characters - add a shorter "id"`),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
