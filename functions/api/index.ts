import { ApiEnvironment } from "../environment.ts";
import { warmServicePorts } from "../service-app.ts";
import { createApi } from "./create-api.ts";

export { createServicePorts } from "../service-app.ts";
export { type ApiHandler, createApi } from "./create-api.ts";
export type { HttpAnswer, HttpEvent } from "./http/event.ts";

/** Serves every route of API Gateway's HTTP API. */
export const handler = createApi(warmServicePorts, { origins: ApiEnvironment.parse(process.env).NOVA_CORS_ORIGINS });
