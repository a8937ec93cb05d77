import { createApi } from "./create-api.ts";
import { ApiEnvironment } from "./environment.ts";
import { warmServicePorts } from "./service-ports.ts";

export { type ApiHandler, type ApiOptions, createApi } from "./create-api.ts";
export type { HttpAnswer, HttpEvent } from "./http/event.ts";
export { createServicePorts } from "./service-ports.ts";

/** API Gateway's HTTP API: every method of every address. */
export const handler = createApi(warmServicePorts, { origins: ApiEnvironment.parse(process.env).NOVA_CORS_ORIGINS });
