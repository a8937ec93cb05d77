import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../functions/api/openapi/document.ts";
import { routes } from "../../../functions/api/routes/index.ts";

const document = openApiDocument(routes);
const operations = routes.map(({ method, path }) => {
  const item = document.paths?.[path] as Record<string, Operation>;
  return [`${method} ${path}`, item[method.toLowerCase()] as Operation] as const;
});

interface Operation {
  operationId: string;
  security: object[];
  parameters?: { in: string; name: string; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

function operation(name: (typeof operations)[number][0]): Operation {
  return new Map(operations).get(name) as Operation;
}

describe("the OpenAPI document", () => {
  it("has version 3.1 and is plain JSON", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it("gives every operation a unique name and a problem as its default answer", () => {
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(routes.length);
    for (const [, { responses }] of operations) {
      expect(responses.default?.content).toHaveProperty(["application/problem+json"]);
    }
  });

  it("refers only to schemas that it contains", () => {
    const names = Array.from(JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g), ([, name]) => name);
    expect(names).toContain("WholeExecution");
    for (const name of names) expect(document.components?.schemas).toHaveProperty([name as string]);
  });

  it("requires an API key on all routes except six", () => {
    const open = operations.filter(([, { security }]) => security.length === 0).map(([name]) => name);
    expect(open).toEqual([
      "GET /.well-known/nova-keys.json",
      "GET /health",
      "GET /openapi.json",
      "POST /hooks/{id}",
      "GET /llms.txt",
      "GET /llms-full.txt",
    ]);
  });

  it("describes paths and queries with JSON schemas", () => {
    const { parameters } = operation("POST /workflows/{id}/execute");
    expect(parameters).toMatchObject([
      { in: "path", name: "id" },
      { in: "query", name: "wait", schema: { type: "integer", minimum: 0, maximum: 25 } },
      { in: "header", name: "Idempotency-Key" },
    ]);
    expect(parameters?.[1]?.schema).not.toHaveProperty("pattern");
  });

  it.each([
    ["POST /keys", true],
    ["PUT /workflows/{id}/quotas", true],
    ["POST /workflows/{id}/execute", false],
  ] as const)("says whether a request needs a body: %s", (name, required) => {
    expect(operation(name).requestBody?.required).toBe(required);
  });

  it("describes a context as any object, although NOVA reads the context as text", () => {
    const { requestBody } = operation("POST /workflows/{id}/execute");
    expect(requestBody?.content["application/json"]?.schema).toMatchObject({
      properties: { context: { type: "object", additionalProperties: true } },
      additionalProperties: false,
    });
  });
});
