import "../with-compiler.ts";
import httpRouter from "@middy/http-router";
import { NotFound, type ServicePorts } from "@nova/service";
import { type LambdaContext, logger } from "../app.ts";
import { ApiEnvironment } from "../environment.ts";
import { handlerStack } from "../lambda.ts";
import { warmServicePorts } from "../service-app.ts";
import { MethodNotAllowed } from "./http/errors.ts";
import { type HttpAnswer, type HttpEvent, receive } from "./http/event.ts";
import type { InnerApi } from "./http/inner.ts";
import { problemOf, render, statusOf } from "./http/problem.ts";
import { routes } from "./routes/index.ts";

export { createServicePorts } from "../service-app.ts";
export type { HttpAnswer, HttpEvent } from "./http/event.ts";
export { type ApiForOne, callAs } from "./http/inner.ts";

export type ApiHandler = (event: HttpEvent, context: LambdaContext) => Promise<HttpAnswer>;

/**
 * Creates the API as one Lambda handler. The handler calls the route of a request, and turns the answer or the error
 * into an HTTP answer.
 */
export function createApi(ports: () => ServicePorts, { origins = [], hosts }: ApiOptions = {}): ApiHandler {
  const table = routes.map(({ method, path, serve }) => {
    const handler = async (event: HttpEvent, context: LambdaContext) => {
      const inner: InnerApi = {
        with(own) {
          const handle = createApi(() => own);
          return (asked) => handle(asked, context);
        },
        origins,
        ...(hosts && { hosts }),
      };
      return render(await serve(ports(), receive(event), inner));
    };
    return { method, path, handler };
  });
  const router = httpRouter<never, never>({ routes: table as never, notFoundResponse: refuse }) as never;
  return handlerStack<HttpEvent, HttpAnswer>()
    .before(({ event }) => preflight(origins, event))
    .after(({ event, response }) => {
      if (response) Object.assign(response.headers, corsHeaders(origins, event));
    })
    .onError((request) => {
      const { error, event, context } = request;
      const status = statusOf(error);
      // Logs an internal error, because the answer does not contain its reason. Status 503 is only a warning: a store
      // or an issuer does not answer for a moment.
      if (status >= 500)
        logger[status === 503 ? "warn" : "error"]("request failed", { request: context.awsRequestId, error });
      request.response = render(problemOf(error, context.awsRequestId));
      Object.assign(request.response.headers, corsHeaders(origins, event));
    })
    .handler(router) as unknown as ApiHandler;
}

function refuse({ method, path }: { method: string; path: string }): never {
  const fitting = routes.filter((route) => {
    return new RegExp(`^${route.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`).test(path);
  });
  // The path `/workflows/validate` also fits `/workflows/{id}`, so a route with exactly this path takes precedence.
  const exact = fitting.filter((route) => route.path === path);
  const here = exact.length > 0 ? exact : fitting;
  const allowed = here.map((route) => route.method);
  if (allowed.length > 0) throw new MethodNotAllowed(method, allowed);
  throw new NotFound(`no such route: ${method} ${path} - GET /openapi.json lists all routes`);
}

export type Origins = readonly string[];

export interface ApiOptions {
  origins?: Origins;
  /**
   * Host names that requests of the Model Context Protocol may carry. Absent: a server in front of the API has checked
   * them.
   */
  hosts?: readonly string[];
}

const allowed = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, idempotency-key, if-none-match, mcp-method, mcp-name, mcp-protocol-version, nova-vote-link, x-api-key",
  "access-control-max-age": "600",
};

/** Headers that a page may read in addition to the body. */
const exposed = { "access-control-expose-headers": "etag, location, retry-after" };

/**
 * Returns the headers that let the calling page read the answer. A page whose origin is not allowed gets no such
 * header.
 */
export function corsHeaders(origins: Origins, { headers }: HttpEvent): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || origins.length === 0) return {};
  if (origins.includes("*")) return { "access-control-allow-origin": "*", ...exposed };
  if (!origins.includes(origin)) return { vary: "origin" };
  return { "access-control-allow-origin": origin, vary: "origin", ...exposed };
}

/** Returns the answer to a preflight request of a browser; undefined for other requests. */
export function preflight(origins: Origins, event: HttpEvent): HttpAnswer | undefined {
  const isPreflight =
    event.requestContext.http.method === "OPTIONS" && "access-control-request-method" in event.headers;
  if (!isPreflight || origins.length === 0) return undefined;
  return { statusCode: 204, headers: { ...corsHeaders(origins, event), ...allowed } };
}

/** Serves every route of API Gateway's HTTP API. */
export const handler = createApi(warmServicePorts, {
  origins: ApiEnvironment.parse(process.env).NOVA_CORS_ORIGINS,
});
