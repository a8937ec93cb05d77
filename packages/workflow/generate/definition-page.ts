import { z } from "zod";
import { AuthoredEdge } from "../src/authored/edge.ts";
import { fanOutFields, nodeFields } from "../src/authored/fields.ts";
import { kinds } from "../src/authored/kinds.ts";
import { AuthoredRetry } from "../src/authored/retry.ts";
import { triggerKinds } from "../src/authored/triggers/kinds.ts";
import { workflowFields } from "../src/authored/workflow.ts";
import { fieldsOf } from "./editor-schema.ts";

const notice =
  "<!-- Generated from packages/workflow/generate/definition-frame.md: npm run generate -w @nova/workflow -->\n\n";

type Field = Record<string, unknown>;

/**
 * Builds docs/definition.md: a hand-written frame (a line `{{...}}` marks a gap), filled with the schema's
 * descriptions.
 */
export function definitionPage(frame: string): string {
  const gaps: Record<string, () => string> = {
    workflow: () => table(workflowFields),
    node: () => table(nodeFields),
    kinds: () =>
      Object.entries(kinds)
        .map(([name, kind]) => `- \`${name}\`: ${kind.schema.description}`)
        .join("\n"),
    task: () => table(ownFields(kinds.action.schema)),
    retry: () => table(AuthoredRetry.shape),
    branches: () => table(fanOutFields),
    map: () => table(ownFields(kinds.map.schema)),
    approval: () => table(ownFields(kinds.approval.schema)),
    wait: () => table(ownFields(kinds.wait.schema)),
    workflow_node: () => table(ownFields(kinds.workflow.schema)),
    edge: () => table(AuthoredEdge.shape),
    triggers: () => Object.entries(triggerKinds).map(triggerSection).join("\n\n"),
  };
  return notice + frame.replace(/^\{\{(\w+)\}\}$/gm, (gap, name: string) => gaps[name]?.() ?? gap);
}

function triggerSection([type, { schema }]: [string, { schema: z.ZodObject }]): string {
  const { type: _, ...fields } = schema.shape;
  return `### \`${type}\`\n\n${schema.description}\n\n${table(fields)}`;
}

/** The fields of a kind, without those of all nodes and those of nodes with branches. */
function ownFields({ shape }: z.ZodObject): z.ZodRawShape {
  const common = ["type", ...Object.keys(nodeFields), ...Object.keys(fanOutFields)];
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !common.includes(name)));
}

function table(shape: z.ZodRawShape): string {
  const schema = z.strictObject(shape);
  const row = ([name, field]: [string, Field]) =>
    `| \`${name}\`${mark(schema, name)} | ${valuesOf(field)} | ${field.description} |`;
  const rows = Object.entries(fieldsOf(schema)).map(row);
  return ["| field | value | meaning |", "|---|---|---|", ...rows].join("\n");
}

function mark(schema: z.ZodObject, name: string): string {
  const field = schema.shape[name];
  return field instanceof z.ZodType && !field.safeParse(undefined).success ? " (required)" : "";
}

/** `1` to `840`, `"code"` or `"prompt"`, `text`. */
function valuesOf(field: Field): string {
  const options = field.enum ?? (field.const === undefined ? undefined : [field.const]);
  const usual = field.default === undefined ? "" : `, default ${JSON.stringify(field.default)}`;
  if (Array.isArray(options)) return options.map((option) => `\`${JSON.stringify(option)}\``).join(", ") + usual;
  const alternatives = Array.isArray(field.anyOf) ? field.anyOf.map((one: Field) => one.type) : [field.type].flat();
  const types = alternatives.map((type) => typeNames[String(type)] ?? String(type)).join(", ");
  return types + usual;
}

const typeNames: Record<string, string> = { string: "text", boolean: "true or false", array: "list" };
