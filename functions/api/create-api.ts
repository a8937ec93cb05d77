import "../with-compiler.ts";
import httpRouter from "@middy/http-router";
import { NotFound, type ServicePorts } from "@nova/service";
import { logger } from "../app.ts";
import { handlerStack, type LambdaContext } from "../lambda.ts";
import { corsHeaders, type Origins, preflight } from "./http/cors.ts";
import { MethodNotAllowed } from "./http/errors.ts";
import { type HttpAnswer, type HttpEvent, receive } from "./http/event.ts";
import { problemOf, render, statusOf } from "./http/problem.ts";
import { routes } from "./routes/index.ts";

export type ApiHandler = (event: HttpEvent, context: LambdaContext) => Promise<HttpAnswer>;

/** The API as one Lambda: its routes in one stack that turns answers and errors into HTTP. */
export function createApi(ports: () => ServicePorts, { origins = [] }: { origins?: Origins } = {}): ApiHandler {
  const table = routes.map(({ method, path, serve }) => {
    return { method, path, handler: async (event: HttpEvent) => render(await serve(ports(), receive(event))) };
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
      // The answer names an unavailable store. The reason of other failures appears only in the log.
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
  // A literal path does not offer the methods of `{id}`.
  const exact = fitting.filter((route) => route.path === path);
  const here = exact.length > 0 ? exact : fitting;
  const allowed = here.map((route) => route.method);
  if (allowed.length > 0) throw new MethodNotAllowed(method, allowed);
  throw new NotFound(`no such route: ${method} ${path} - GET /openapi.json lists all routes`);
}
