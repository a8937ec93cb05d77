import type { components } from "./schema.d.ts";

/** Requests and answers, by their names in the OpenAPI document. */
export type Schemas = components["schemas"];

export type Execution = Schemas["Execution"];
export type WholeExecution = Schemas["WholeExecution"];
export type StartedExecution = Schemas["StartedExecution"];
export type RestartedExecution = Schemas["RestartedExecution"];
export type RestartForecast = Schemas["RestartForecast"];
export type ChainEntry = Schemas["ChainEntry"];
export type Workflow = Schemas["Workflow"];
export type Session = Schemas["Session"];
export type SessionRun = Schemas["SessionRun"];
export type SessionOutputs = Schemas["SessionOutputs"];
export type Task = Schemas["Task"];
export type WholeTask = Schemas["WholeTask"];
export type Client = Schemas["Client"];
export type Key = Schemas["Key"];
export type Delivery = Schemas["Delivery"];
export type AuditRecord = Schemas["AuditRecord"];
