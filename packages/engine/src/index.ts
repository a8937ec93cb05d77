export { BlobMissing, NovaError, StoreUnavailable } from "./errors.ts";
export type * from "./ports/blobs.ts";
export type * from "./ports/chain.ts";
export type * from "./ports/executions.ts";
export type * from "./ports/index.ts";
export type * from "./ports/sandboxes.ts";
export type * from "./ports/state-machines.ts";
export type * from "./ports/workflows.ts";
