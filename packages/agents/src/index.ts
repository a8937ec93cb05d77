export { modelFor } from "./model/choose-model.ts";
export { costOf } from "./model/cost.ts";
export { createModels } from "./model/create-models.ts";
export type { ModelEnvironment } from "./model/environment.ts";
export { ModelError, type ModelErrorReason } from "./model/model-error.ts";
export type { ModelAnswer, ModelCall, Models, Tool } from "./model/models.ts";
export type { Usage } from "./model/usage.ts";
