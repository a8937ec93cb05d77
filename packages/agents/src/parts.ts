import type { PromptTask } from "@nova/engine";
import type { CodeFinding, NodeFacts } from "@nova/python";
import type { guidesFor } from "./knowledge/guides/choose-guides.ts";
import type { createPinnedCodes } from "./lock/pinned-codes.ts";
import type { Models } from "./model/models.ts";
import type { Example } from "./precedents/closest-examples.ts";

export interface PipelineParts {
  models: Models;
  /** Knowledge of the code generator. Its prompt contains guides; it can search the documentation with a tool. */
  knowledge: {
    guidesFor: typeof guidesFor;
    /** Searches the docstrings of a library. `template` is the sandbox template in which the code runs. */
    searchDocumentation(library: string, query: string, template?: string): { text: string; found: unknown };
    /** Code that worked for the closest earlier tasks of the workflow. `embedding` is that of the task's prompt. */
    earlierExamples(task: PromptTask, embedding: readonly number[]): Promise<Example[]>;
  };
  pinned: ReturnType<typeof createPinnedCodes>;
  /** Checks a node's code without running it. */
  check(source: string, about: NodeFacts): Promise<CodeFinding[]>;
  /** `DEFAULT_MODEL`. */
  defaultModel?: string;
  /** pip names of the sandbox template's packages. */
  packages: readonly string[];
  clock: { now(): number };
}
