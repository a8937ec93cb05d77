// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import type { Route } from "../../../functions/api/http/route.ts";
import { routes } from "../../../functions/api/routes/index.ts";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
let known: string[];

beforeAll(async () => {
  await api.call("POST /workflows", { body: asking });
  await api.call("POST /workflows", { body: inARow("idle", { rest: "pass" }) });
  const { body: run } = await api.call("POST /workflows/asking/execute", { body: {} });
  known = ["asking", "idle", "default", "acme", run.execution_id, `task_${"0".repeat(26)}`, "0", "1"];
});

/** Texts that often break stores, parsers and logs. */
const nasty = ["", " ", "\u0000", "\ud800", "%", "__proto__", "constructor", "9".repeat(400), "\u{1f4a9}", "-1"];
const texts = fc.oneof(fc.constantFrom(...nasty), fc.string(), fc.string({ unit: "binary" }));
const names = ["limit", "cursor", "version", "wait", "full", "scope", "workflow", "client", "status", "from", "to"];
const query = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof(texts, fc.nat().map(String), fc.constantFrom("failed")),
);
const fields = ["id", "nodes", "edges", "definition", "files", "version", "context", "client_slug", "role"];
const more = ["name", "slug", "pins", "choice", "data", "by", "__proto__", "inputs", "lib"];
const body = fc.oneof(
  fc.json(),
  fc.dictionary(fc.constantFrom(...fields, ...more), fc.jsonValue()).map((value) => JSON.stringify(value)),
  fc.record({ nodes: fc.array(fc.jsonValue()), edges: fc.array(fc.jsonValue()) }).map((value) => JSON.stringify(value)),
  texts,
);

function addressOf({ path }: Route, parts: readonly string[]): string {
  let next = 0;
  return path.replaceAll(/\{\w+\}/g, () => encode(parts[next++] ?? "x"));
}

/**
 * Encodes a text for a path. It replaces each half of a surrogate pair, because UTF-8 cannot encode it. It also
 * replaces dots, because `fetch` resolves them as parent folders.
 */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/^\.{1,2}$/, "dots") || "%00";
}

function queryText(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encode(value)}`)
    .join("&");
}

it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  "%s never answers 5xx to random requests",
  async (_name, route) => {
    const parts = fc.array(
      fc.oneof(
        fc.nat().map((n) => known[n % known.length] as string),
        texts,
      ),
      {
        minLength: 2,
        maxLength: 2,
      },
    );
    await fc.assert(
      fc.asyncProperty(parts, query, body, async (ids, values, text) => {
        const { wait: _, ...rest } = values;
        const request = `${route.method} ${addressOf(route, ids)}?${queryText(rest)}`;
        const sent = route.method === "GET" || route.method === "DELETE" ? {} : { body: text };
        const { status } = await api.call(request, sent);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: Number(process.env.NOVA_FUZZ_RUNS ?? 40) },
    );
  },
);
