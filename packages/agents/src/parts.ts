import type { PromptTask } from "@nova/engine";
import type { CodeFinding, NodeFacts } from "@nova/python";
import type { guidesFor } from "./knowledge/guides/choose-guides.ts";
import type { createPinnedCodes } from "./lock/pinned-codes.ts";
import type { Models } from "./model/models.ts";
import type { Example } from "./precedents/closest-examples.ts";

export interface PipelineParts {
  models: Models;
  /** What the writer of code may look up: guides come with the prompt, documentation when it asks. */
  knowledge: {
    guidesFor: typeof guidesFor;
    /** What a library's docstrings say. `template`: the sandbox template that the code runs in. */
    searchDocumentation(library: string, query: string, template?: string): { text: string; found: unknown };
    /** What worked for the closest earlier tasks of the workflow. `embedding`: of the task's prompt. */
    earlierExamples(task: PromptTask, embedding: readonly number[]): Promise<Example[]>;
  };
  pinned: ReturnType<typeof createPinnedCodes>;
  /** Findings in a node's code without running it. */
  check(source: string, about: NodeFacts): Promise<CodeFinding[]>;
  /** `DEFAULT_MODEL`. */
  defaultModel?: string;
  /** pip names of what the sandbox template has. */
  packages: readonly string[];
  clock: { now(): number };
}
