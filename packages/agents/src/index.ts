export { analysisAnswer, analysisProgram, analysisSeconds } from "./agents/analysis-code.ts";

export { currentGenerator, type Generator } from "./lock/generator.ts";
export { currentIngredients as ingredientsToday, generationKey, ingredientsOf } from "./lock/ingredients.ts";
export { frozenPipeline, modelFreePipeline } from "./lock/pinned-codes.ts";

export { analysisKey, type ContextRead as Read, mergeReads as readsTogether, needsAnalysis } from "./lock/reads.ts";
export { type Change, changeText, findChanges as staleness } from "./lock/staleness.ts";
export { budgetsWithoutPrice } from "./model/budgets-without-price.ts";
export { costOf } from "./model/cost.ts";
export { createModels } from "./model/create-models.ts";
export { createPipeline } from "./pipeline.ts";
