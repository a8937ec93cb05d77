import type { Clock, GenerationStore, Pipeline } from "@nova/engine";
import { checkCode, readsOf } from "./check/within-time.ts";
import { createKnowledge } from "./knowledge/knowledge.ts";
import { currentGenerator } from "./lock/current-generator.ts";
import { createPinnedCodes } from "./lock/pinned-codes.ts";
import type { Models } from "./model/models.ts";
import { pipelineOf } from "./pipeline.ts";

export interface PipelineOptions {
  models: Models;
  generations: GenerationStore;
  /** pip names of what every sandbox template has. */
  packages: readonly string[];
  /** `DEFAULT_MODEL`. */
  defaultModel?: string | undefined;
  /** Folder of documentation indexes, `<template>.json`; without one, the shipped index serves. */
  docstrings?: string | undefined;
  clock: Pick<Clock, "now">;
}

/** The pipeline with all that belongs to it; nothing is read or asked before a node needs it. */
export function createPipeline({
  models,
  generations,
  packages,
  defaultModel,
  docstrings,
  clock,
}: PipelineOptions): Pipeline {
  return pipelineOf({
    models,
    knowledge: createKnowledge({ docstrings, precedents: generations }),
    pinned: createPinnedCodes({
      store: generations,
      generator: currentGenerator,
      readsOf,
      clock,
    }),
    check: checkCode,
    ...(defaultModel !== undefined && { defaultModel }),
    packages,
    clock,
  });
}
