import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { idempotencyKeyPattern } from "../http/event.ts";
import { linkHeader, type Possible, type Route } from "../http/route.ts";
import { Problem } from "../schemas/values.ts";

const json = "application/json";
const problem = {
  description: "the problem, and the way out (RFC 9457)",
  content: { "application/problem+json": { schema: Problem } },
};

const IfNoneMatch = z.string().optional().describe("an earlier `ETag`: 304 if nothing has changed");

const IdempotencyKey = z
  .string()
  .regex(idempotencyKeyPattern)
  .optional()
  .describe("for a day, a repeated request with the same key does its work only once");

export function openApiDocument(routes: readonly Route[]) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return createDocument({
    openapi: "3.1.0",
    info: { title: "NOVA", version: "1", description: "Business workflows on AWS Step Functions" },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        voteLink: { type: "apiKey", in: "header", name: linkHeader },
      },
    },
    paths,
  });
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { method, path, summary, role, params, query, body, bodyMayBeAbsent, acceptsLinks, isTagged, answers } = route;
  const parameters = {
    ...(params && { path: params as z.ZodObject }),
    ...(query && { query: query as z.ZodObject }),
    ...(method === "POST" && role !== null && { header: z.object({ "Idempotency-Key": IdempotencyKey }) }),
    ...(isTagged && { header: z.object({ "If-None-Match": IfNoneMatch }) }),
  };
  return {
    operationId: operationId(method, path),
    summary,
    ...(role === null
      ? { security: [] }
      : { security: [{ bearer: [] }, { apiKey: [] }, ...(acceptsLinks ? [{ voteLink: [] }] : [])] }),
    ...(role !== null && {
      description: `Needs the role ${role}, or a higher one${acceptsLinks ? ", or a mailed link" : ""}.`,
    }),
    ...(Object.keys(parameters).length > 0 && { requestParams: parameters }),
    ...(body && { requestBody: { required: !bodyMayBeAbsent, content: { [json]: { schema: body } } } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(status, answer)])),
      default: problem,
    },
  };
}

function responseOf(status: string, { description, schema }: Possible) {
  if (schema) return { description, content: { [json]: { schema } } };
  return status.startsWith("4") ? { ...problem, description } : { description };
}

/** Returns the name of an operation in generated clients: `GET /workflows/{id}/asl` -> `getWorkflowsIdAsl`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
}
