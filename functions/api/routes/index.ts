import { z } from "zod";
import { lazyValue } from "../../node-parts.ts";
import { openRoute, type Route } from "../http/route.ts";
import { openApiDocument } from "../openapi/document.ts";
import * as analytics from "./analytics.ts";
import * as chain from "./chain.ts";
import * as clients from "./clients.ts";
import * as deployment from "./deployment.ts";
import * as executions from "./executions.ts";
import * as exports from "./export.ts";
import * as mcp from "./mcp.ts";
import * as roots from "./roots.ts";
import * as scriptChain from "./script-chain.ts";
import * as sessions from "./sessions.ts";
import * as tasks from "./tasks.ts";
import * as triggers from "./triggers.ts";
import * as workflows from "./workflows.ts";

const openApi = openRoute("GET /openapi.json", {
  summary: "This document",
  answers: { 200: { description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) } },
  // The first request creates the document, and later requests reuse it, because creating it takes longer than most
  // requests.
  serve: async () => ({ status: 200, body: document() }),
});

const document = lazyValue(() => openApiDocument(routes));

export const routes: readonly Route[] = [
  ...Object.values(deployment),
  openApi,
  ...[
    workflows,
    executions,
    chain,
    roots,
    tasks,
    sessions,
    scriptChain,
    exports,
    clients,
    triggers,
    analytics,
    mcp,
  ].flatMap((topic): Route[] => Object.values<Route | Route[]>(topic).flat()),
];
