import type { Knowledge } from "../parts.ts";
import { earlierExamples, type Precedents } from "../precedents/closest-examples.ts";
import { TemplateDocumentation } from "./documentation/documentation.ts";
import { guidesFor } from "./guides/choose-guides.ts";

export interface KnowledgeOptions {
  /** Folder of indexes made when templates were built, `<template>.json`; without one, the shipped index serves. */
  docstrings?: string | undefined;
  /** Without them there are no examples. */
  precedents?: Precedents;
}

/** What the writer of code may look up: guides come with the prompt, documentation when it asks. Reads nothing before. */
export function createKnowledge({ docstrings, precedents }: KnowledgeOptions = {}): Knowledge {
  const documentation = new TemplateDocumentation(docstrings);
  return {
    guidesFor,
    searchDocumentation: (library, query, template) => documentation.search(library, query, template),
    ...(precedents && { earlierExamples: (task, embedding) => earlierExamples(task, embedding, precedents) }),
  };
}
