export { createClient, type NovaClient } from "./client.ts";
export type { Api, ClientOptions, ItemOf, ListPath } from "./connection.ts";
export { ApiProblem, ApiUnreachable } from "./problem.ts";
export type { CredentialOwner, NewCredential } from "./resources/credentials.ts";
export type { ExecuteOptions, FollowOptions, RestartOptions } from "./resources/executions.ts";
export type { Answer } from "./resources/tasks.ts";
export type { Uploading } from "./resources/uploads.ts";
export type { Source } from "./resources/workflows.ts";
export type * from "./schemas.ts";
