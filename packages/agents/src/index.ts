export { analysisAnswer, analysisProgram, analysisSeconds } from "./agents/analyzers.ts";
export { type Change, changeText, findChanges as staleness } from "./lock/choose.ts";
export {
  analysisKey,
  type ContextRead as Read,
  currentGenerator,
  currentIngredients as ingredientsToday,
  type Generator,
  generationKey,
  ingredientsOf,
  mergeReads as readsTogether,
  needsAnalysis,
} from "./lock/ingredients.ts";
export { frozenPipeline, modelFreePipeline } from "./lock/pinned-codes.ts";
export { budgetsWithoutPrice } from "./model/choose-model.ts";
export { costOf } from "./model/cost.ts";
export { createModels } from "./model/create-models.ts";
export { createPipeline } from "./pipeline.ts";
