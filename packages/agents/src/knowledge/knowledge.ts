import type { GenerationStore, PromptTask } from "@nova/engine";
import { closestExamples } from "../precedents/closest-examples.ts";
import { TemplateDocumentation } from "./documentation/library.ts";
import { guidesFor } from "./guides/choose-guides.ts";

interface KnowledgeOptions {
  /** Folder of indexes made when templates were built, `<template>.json`; without one, the shipped index serves. */
  docstrings?: string | undefined;
  /** Without them there are no examples. */
  precedents?: Pick<GenerationStore, "ofWorkflow">;
}

/** What the writer of code may look up: guides come with the prompt, documentation when it asks. Reads nothing before. */
export function createKnowledge({ docstrings, precedents }: KnowledgeOptions = {}) {
  const documentation = new TemplateDocumentation(docstrings);
  const earlierExamples =
    precedents &&
    (async (task: PromptTask, embedding: readonly number[]): Promise<{ task: string; code: string }[]> =>
      closestExamples(task, embedding, await precedents.ofWorkflow(task.version.workflowId)));
  return {
    guidesFor,
    /** What a library's docstrings say. `template`: the sandbox template that the code runs in. */
    searchDocumentation(library: string, query: string, template?: string): { text: string; found: unknown } {
      return documentation.search(library, query, template);
    },
    /** What worked for the closest earlier tasks of the workflow. `embedding`: of the task's prompt. */
    ...(earlierExamples && { earlierExamples }),
  };
}
