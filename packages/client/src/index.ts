export {
  type Answer,
  type CredentialOwner,
  createClient,
  type NewCredential,
  type NovaClient,
  type Source,
  type Uploading,
} from "./client.ts";
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
export {
  callsOf,
  formatDuration,
  formatPercentile,
  formatRate,
  formatUsd,
  sumTimes,
  type TimeClass,
  type Times,
  timeClasses,
} from "./figures.ts";
export type * from "./schemas.ts";
export type { ReadVersion, RunWait, SessionOptions } from "./sessions.ts";
export { findFailedLine } from "./traceback.ts";
