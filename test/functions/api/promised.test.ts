import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { openApiDocument } from "../../../functions/api/openapi/document.ts";
import { routes } from "../../../functions/api/routes/index.ts";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const api = useApi();
const document = openApiDocument(routes);
const refs = document.components?.schemas as Refs;
/** Ids of existing records, by the name of the path parameter. */
const known: Record<string, string[]> = {};

const ulid = "0".repeat(26);
/**
 * Valid values of path parameters, by the first segment of the path. A route refuses invalid values before it checks
 * anything else.
 */
const samples: Record<string, Record<string, string>> = {
  workflows: { id: "asking", name: "mail" },
  executions: { id: `exec_${ulid}`, a: `exec_${ulid}`, b: `exec_${ulid}`, seq: "0", sha256: "0".repeat(64) },
  tasks: { id: `task_${ulid}` },
  keys: { id: `key_${ulid}` },
  sessions: { id: `ses_${ulid}`, node: "a" },
  clients: { slug: "acme", name: "mail" },
};

beforeAll(async () => {
  await api.call("POST /workflows", { body: asking });
  await api.call("POST /workflows", { body: inARow("idle", { rest: "pass" }) });
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
  const { body: run } = await api.call("POST /workflows/asking/execute", { body: {} });
  Object.assign(known, {
    id: ["asking", "idle", run.execution_id],
    a: [run.execution_id],
    b: [run.execution_id],
    slug: ["acme", "default"],
    seq: ["0", "1"],
  });
});

/** Returns random paths with queries that the OpenAPI document allows. Some paths have ids of existing records. */
function requests(path: string, { parameters = [] }: Operation): fc.Arbitrary<string> {
  const of = (where: string) => parameters.filter((one) => one.in === where);
  const parts = of("path").map(({ name, schema }) =>
    fc.oneof(
      fc.nat().map((n) => known[name]?.[n % (known[name]?.length ?? 1)] ?? "x"),
      valuesOf(schema, refs).map(String),
    ),
  );
  const names = of("path").map(({ name }) => name);
  const query = Object.fromEntries(
    of("query")
      .filter(({ name }) => name !== "wait")
      .map(({ name, schema }) => [name, valuesOf(schema, refs).map(String)]),
  );
  return fc.tuple(fc.tuple(...parts), fc.record(query, { requiredKeys: [] })).map(([values, asked]) => {
    const address = names.reduce(
      (text, name, i) => text.replace(`{${name}}`, encodeURIComponent(values[i] ?? "x")),
      path,
    );
    const search = new URLSearchParams(asked as Record<string, string>).toString();
    return search === "" ? address : `${address}?${search}`;
  });
}

it.each(routes.filter(({ role }) => role !== null).map(({ method, path }) => [method, path] as const))(
  "%s %s refuses an unknown query parameter, because it could be a misspelled filter",
  async (method, path) => {
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => samples[path.split("/")[1] ?? ""]?.[name] ?? "1");
    const { status, body } = await api.call(`${method} ${address}?clinet=acme`, {
      body: method === "GET" ? undefined : {},
    });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/"clinet" is not known here/)]);
  },
);

it.each(routes.map(({ method, path }) => [method, path] as const))(
  "%s %s answers every request that the OpenAPI document allows with a response that this document describes",
  { tags: ["deep"] },
  async (method, path) => {
    const operations = document.paths?.[path] as Record<string, Operation>;
    const operation = operations[method.toLowerCase()] as Operation;
    const [content] = Object.values(operation.requestBody?.content ?? {});
    const bodies = content ? valuesOf(content.schema, refs) : fc.constant(undefined);
    await fc.assert(
      fc.asyncProperty(requests(path, operation), bodies, async (address, body) => {
        const { status } = await api.call(`${method} ${address}`, body === undefined ? {} : { body });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: Number(process.env.NOVA_FUZZ_RUNS ?? 5) },
    );
  },
);

/** The fields of a JSON schema that the OpenAPI document uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
}

type Refs = Record<string, Schema>;

/** Returns random values that the JSON schema allows. */
function valuesOf(schema: Schema, refs: Refs, depth = 0): fc.Arbitrary<unknown> {
  if (schema.$ref) return valuesOf(refs[schema.$ref.split("/").at(-1) ?? ""] ?? {}, refs, depth);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => valuesOf(choice, refs, depth)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => ofType(type, schema, refs, depth)));
}

function ofType(type: string, schema: Schema, refs: Refs, depth: number): fc.Arbitrary<unknown> {
  const { minimum: min = -1e6, maximum: max = 1e6 } = schema;
  switch (type) {
    case "object":
      return depth > 4 ? fc.constant({}) : objects(schema, refs, depth);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}, refs, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(4, schema.maxItems ?? 4),
      });
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
    case "number":
      return fc.double({ min, max, noNaN: true });
    case "boolean":
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function objects({ properties = {}, required = [], additionalProperties }: Schema, refs: Refs, depth: number) {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, refs, depth + 1)]),
  );
  const known = fc.record(members, { requiredKeys: required as never[] });
  if (additionalProperties === false || additionalProperties === undefined) return known;
  const value =
    additionalProperties === true ? fc.jsonValue({ maxDepth: 2 }) : valuesOf(additionalProperties, refs, depth + 1);
  const more = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,9}$/), value, { maxKeys: 3 });
  return fc.tuple(more, known).map(([others, own]) => ({ ...others, ...own }));
}

function texts({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "date") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
  // fc.webUrl knows every top level domain and takes a second to create.
  if (format === "uri") return fc.stringMatching(/^[a-z]{1,9}(\/[a-z0-9]{0,4})?$/).map((text) => `https://x.${text}`);
  if (format === "email") return fc.emailAddress();
  if (pattern && /^[ -~]*$/.test(pattern) && !pattern.includes("(?")) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}
