import { z } from "zod";
import { AuthoredEdge } from "../src/authored/edge.ts";
import { kinds } from "../src/authored/kinds.ts";
import { triggerKinds } from "../src/authored/triggers/kinds.ts";
import { workflowFields } from "../src/authored/workflow.ts";

type Schema = Record<string, unknown>;

/** Builds the JSON schema of `workflow.json` for editors: completion per type of node, and a text for every field. */
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
      ...triggerDefinitions(),
    },
  };
}

const nodeNames = Object.values(kinds).flatMap(({ schema }) => schema.shape.type.options);
const nodes = Object.entries(kinds).map(([name, { schema }]) => ({ name, type: { enum: schema.shape.type.options } }));
const triggerNames = Object.keys(triggerKinds);
const triggers = triggerNames.map((type) => ({ name: `${type}_trigger`, type: { const: type } }));

/** Editors complete better from `if` a type `then` its fields than from a union. */
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

/** The parser reads each trigger separately, so its schema has no types; editors get them. */
function withTriggers({ triggers, ...fields }: Record<string, Schema>): Schema {
  return { ...fields, triggers: { ...triggers, items: { $ref: "#/$defs/trigger" } } };
}

function triggerDefinitions(): Schema {
  const entries = Object.entries(triggerKinds);
  return Object.fromEntries(entries.map(([type, { schema }]) => [`${type}_trigger`, jsonSchemaOf(schema)]));
}

function kindDefinitions(): Schema {
  return Object.fromEntries(
    Object.entries(kinds).map(([name, { schema, holds }]) => {
      const definition = jsonSchemaOf(schema);
      return [name, holds === "nodes" ? withBody(definition) : definition];
    }),
  );
}

/** The parser reads each node of a body separately, so its schema has no types; editors get them. */
function withBody({ properties, ...definition }: Schema): Schema {
  const { nodes, edges, ...fields } = properties as Record<string, Schema>;
  const body = {
    nodes: { ...nodes, items: { $ref: "#/$defs/node" } },
    edges: { ...edges, items: { $ref: "#/$defs/edge" } },
  };
  return { ...definition, properties: { ...fields, ...body } };
}

/**
 * The schema of the authored form, before defaults are filled in. Fields with any JSON (`inputs`, `form`) are not
 * described further.
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

export function fieldsOf(schema: z.ZodObject): Record<string, Schema> {
  return jsonSchemaOf(schema).properties as Record<string, Schema>;
}
