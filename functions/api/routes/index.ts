import { z } from "zod";
import { openRoute, type Route } from "../http/route.ts";
import { openApiDocument } from "../openapi/document.ts";
import * as analytics from "./analytics.ts";
import * as audit from "./audit.ts";
import * as blobs from "./blobs.ts";
import * as chain from "./chain.ts";
import * as clients from "./clients.ts";
import * as credentials from "./credentials.ts";
import * as deliveries from "./deliveries.ts";
import * as events from "./events.ts";
import { execute } from "./execute.ts";
import * as executions from "./executions.ts";
import * as exports from "./export.ts";
import * as formats from "./formats.ts";
import * as generations from "./generations.ts";
import { health } from "./health.ts";
import * as hooks from "./hooks.ts";
import * as keys from "./keys.ts";
import * as quotas from "./quotas.ts";
import * as schedules from "./schedules.ts";
import * as tasks from "./tasks.ts";
import * as uploads from "./uploads.ts";
import * as changes from "./workflow-changes.ts";
import * as workflows from "./workflows.ts";

const openApi = openRoute({
  method: "GET",
  path: "/openapi.json",
  summary: "This document",
  answers: { 200: { description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) } },
  serve: async () => ({ status: 200, body: theDocument() }),
});

let document: ReturnType<typeof openApiDocument> | undefined;

/** Made when somebody asks for it the first time: it takes longer than most requests. */
function theDocument() {
  document ??= openApiDocument(routes);
  return document;
}

/** Every route there is. */
export const routes: readonly Route[] = [
  health,
  openApi,
  ...Object.values(workflows),
  ...Object.values(changes),
  ...Object.values(quotas),
  execute,
  ...Object.values(executions),
  ...Object.values(chain),
  ...Object.values(blobs),
  ...Object.values(events),
  ...Object.values(generations),
  ...Object.values(tasks),
  ...Object.values(uploads),
  ...Object.values(exports),
  ...Object.values(formats),
  ...Object.values(keys),
  ...Object.values(clients),
  ...Object.values(credentials),
  ...Object.values(audit),
  ...Object.values(deliveries),
  ...Object.values(schedules),
  ...Object.values(analytics),
  ...Object.values(hooks),
];
