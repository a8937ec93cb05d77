import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { AuthoredEdge, fanOutFields, nodeFields } from "../src/authored/fields.ts";
import { kinds } from "../src/authored/kinds.ts";
import { AuthoredRetry } from "../src/authored/retry.ts";
import { triggerKinds } from "../src/authored/triggers.ts";
import { workflowFields } from "../src/authored/workflow.ts";

const frame = new URL("definition-frame.md", import.meta.url);

export const pages = [
  {
    file: new URL("../workflow.schema.json", import.meta.url),
    text: () => `${JSON.stringify(editorSchema(), null, 2)}\n`,
  },
  {
    file: new URL("../../../docs/definition.md", import.meta.url),
    text: () => definitionPage(readFileSync(frame, "utf8")),
  },
];

type Schema = Record<string, unknown>;

/**
 * Builds the JSON schema of `workflow.json` for editors, which use it to complete the fields of each type of node and
 * to explain them.
 */
export function editorSchema(): Schema {
  const fields = withTriggers(fieldsOf(z.strictObject(workflowFields)));
  const graph = {
    nodes: { type: "array", items: { $ref: "#/$defs/node" }, description: "The nodes, in any order." },
    edges: { type: "array", items: { $ref: "#/$defs/edge" }, description: "The edges, in any order." },
  };
  const nested = {
    type: "object",
    properties: { ...fields, ...graph },
    required: ["nodes", "edges"],
    additionalProperties: false,
    description: "Alternative form: `nodes` and `edges` in an object of their own. Use this, or both at the top level.",
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "NOVA workflow",
    type: "object",
    properties: { ...fields, ...graph, graph_definition: nested },
    additionalProperties: false,
    anyOf: [{ required: ["nodes", "edges"] }, { required: ["graph_definition"] }],
    $defs: {
      node: anyOfTypes({ enum: nodeNames, description: "The type of the node." }, ["id", "type"], nodes),
      ...kindDefinitions(),
      edge: jsonSchemaOf(AuthoredEdge),
      trigger: anyOfTypes({ enum: triggerNames, description: "The type of the trigger." }, ["type"], triggers),
      ...Object.fromEntries(triggers.map(({ name, schema }) => [name, jsonSchemaOf(schema)])),
    },
  };
}

const nodeNames = Object.values(kinds).flatMap(({ schema }) => schema.shape.type.options);
const nodes = Object.entries(kinds).map(([name, { schema }]) => ({ name, type: { enum: schema.shape.type.options } }));
const triggerNames = Object.keys(triggerKinds);
const triggers = Object.entries(triggerKinds).map(([type, { schema }]) => ({
  name: `${type}_trigger`,
  type: { const: type },
  schema,
}));

/**
 * Returns a schema for one of several types. It uses `if` and `then` instead of a union, because editors complete its
 * fields better.
 */
function anyOfTypes(type: Schema, required: string[], cases: { name: string; type: Schema }[]): Schema {
  return {
    type: "object",
    required,
    properties: { type },
    allOf: cases.map(({ name, type }) => ({
      if: { properties: { type }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
      then: { $ref: `#/$defs/${name}` },
    })),
  };
}

/** Adds the types of triggers. The parser's own schema lacks them, because the parser reads each trigger separately. */
function withTriggers({ triggers, ...fields }: Record<string, Schema>): Schema {
  return { ...fields, triggers: { ...triggers, items: { $ref: "#/$defs/trigger" } } };
}

function kindDefinitions(): Schema {
  return Object.fromEntries(
    Object.entries(kinds).map(([name, { schema, holds }]) => {
      const definition = jsonSchemaOf(schema);
      return [name, holds === "nodes" ? withBody(definition) : definition];
    }),
  );
}

/**
 * Adds the types of nodes to the body of a map. The parser's own schema lacks them, because the parser reads each node
 * separately.
 */
function withBody({ properties, ...definition }: Schema): Schema {
  const { nodes, edges, ...fields } = properties as Record<string, Schema>;
  const body = {
    nodes: { ...nodes, items: { $ref: "#/$defs/node" } },
    edges: { ...edges, items: { $ref: "#/$defs/edge" } },
  };
  return { ...definition, properties: { ...fields, ...body } };
}

/**
 * Converts the schema of written fields, before defaults are filled in. Fields that take any JSON (`inputs`, `form`)
 * get no details.
 */
function jsonSchemaOf(schema: z.ZodType): Schema {
  const { $schema: _, $defs: _json, ...rest } = z.toJSONSchema(schema, { io: "input", override: anyJson });
  return rest;
}

function anyJson({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  if (zodSchema._zod.def.type !== "record") return;
  delete jsonSchema.propertyNames;
  delete jsonSchema.additionalProperties;
}

function fieldsOf(schema: z.ZodObject): Record<string, Schema> {
  return jsonSchemaOf(schema).properties as Record<string, Schema>;
}

const notice =
  "<!-- Generated from packages/workflow/generate/definition-frame.md: npm run generate -w @nova/workflow -->\n\n";

/** Replaces the lines `{{...}}` of a hand-written page by descriptions from the schema. */
function definitionPage(frame: string): string {
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

/**
 * Returns the fields that only one kind of node has. Leaves out the fields that all nodes have, and those that all
 * nodes with several outgoing edges have.
 */
function ownFields({ shape }: z.ZodObject): z.ZodRawShape {
  const common = ["type", ...Object.keys(nodeFields), ...Object.keys(fanOutFields)];
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !common.includes(name)));
}

function table(shape: z.ZodRawShape): string {
  const schema = z.strictObject(shape);
  const row = ([name, field]: [string, Schema]) =>
    `| \`${name}\`${mark(schema, name)} | ${valuesOf(field)} | ${field.description} |`;
  const rows = Object.entries(fieldsOf(schema)).map(row);
  return ["| field | value | meaning |", "|---|---|---|", ...rows].join("\n");
}

function mark(schema: z.ZodObject, name: string): string {
  const field = schema.shape[name];
  return field instanceof z.ZodType && !field.safeParse(undefined).success ? " (required)" : "";
}

/** Describes the allowed values of a field, such as `1` to `840`, `"code"` or `"prompt"`, or text. */
function valuesOf(field: Schema): string {
  const options = field.enum ?? (field.const === undefined ? undefined : [field.const]);
  const usual = field.default === undefined ? "" : `, default ${JSON.stringify(field.default)}`;
  if (Array.isArray(options)) return options.map((option) => `\`${JSON.stringify(option)}\``).join(", ") + usual;
  const alternatives = Array.isArray(field.anyOf) ? field.anyOf.map((one: Schema) => one.type) : [field.type].flat();
  const types = alternatives.map((type) => typeNames[String(type)] ?? String(type)).join(", ");
  return types + usual;
}

const typeNames: Record<string, string> = { string: "text", boolean: "true or false", array: "list" };

if (import.meta.main) {
  for (const { file, text } of pages) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text());
  }
}
