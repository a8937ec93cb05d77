export * from "./client.ts";
export {
  type Api,
  ApiProblem,
  ApiUnreachable,
  type ClientOptions,
  type ItemOf,
  type ListParameters,
  type ListPath,
} from "./connection.ts";
export type { ExecuteOptions, FollowOptions, RestartOptions } from "./executions.ts";
export * from "./figures.ts";
export type * from "./schemas.ts";
export type { ReadVersion, RunWait, SessionOptions } from "./sessions.ts";
export { findFailedLine } from "./traceback.ts";
