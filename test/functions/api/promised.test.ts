import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { openApiDocument } from "../../../functions/api/openapi/document.ts";
import { routes } from "../../../functions/api/routes/index.ts";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";
import { type Refs, type Schema, valuesOf } from "./support/from-schema.ts";

interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const api = useApi();
const document = openApiDocument(routes);
const refs = document.components?.schemas as Refs;
/** Existing ids by the name of a path parameter. */
const known: Record<string, string[]> = {};

const ulid = "0".repeat(26);
/**
 * Valid values of path parameters by the first part of the path. A route refuses invalid ones before it checks anything
 * else.
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

/** Returns random paths and queries that the document allows, sometimes with existing ids. */
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
  "%s %s refuses an unknown parameter, which could be a misspelled filter",
  async (method, path) => {
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => samples[path.split("/")[1] ?? ""]?.[name] ?? "1");
    const { status, body } = await api.call(`${method} ${address}?clinet=acme`, {
      body: method === "GET" ? undefined : {},
    });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/"clinet" is not known here/)]);
  },
);

it.each(routes.map(({ method, path }) => [method, path] as const))(
  "%s %s answers every request that the OpenAPI document allows, as this document describes",
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
