import type { PinnedCode, PromptTask } from "@nova/engine";
import type { CodeFinding, ContextShape, NodeFacts } from "@nova/python";
import type { Models } from "./model/models.ts";

/** A short text on how something is done here. `hash` is the SHA-256 of the text. */
export interface Guide {
  name: string;
  text: string;
  hash: string;
}

/** What is known besides the node: guides, documentation of libraries, and what worked for tasks like this one. */
export interface Knowledge {
  guidesFor(about: { task: string; schema: ContextShape; errors: string[] }): Guide[];
  /**
   * What a library's docstrings say, in at most 1,200 characters. `template`: the sandbox template that the code runs
   * in.
   */
  searchDocumentation(library: string, query: string, template?: string): { text: string; found: unknown };
  /** Closest first; empty where nothing is close. `embedding`: of the task's prompt. */
  earlierExamples?(task: PromptTask, embedding: readonly number[]): Promise<{ task: string; code: string }[]>;
}

/** Code that a model wrote and a run has proven. */
export interface ProvenCode {
  code: string;
  /** What ran before it, where it needs that. */
  analysis?: string;
  guides: readonly Guide[];
  /** Of the task; absent: it is not found for tasks like its own. */
  embedding?: number[];
  /** Of the code generator. */
  model: string;
  /** Of everything that led to it. */
  cost: { usd: number; tokens_input: number; tokens_cached: number; tokens_output: number };
}

/** Code of earlier runs: chosen by what a task is made of, kept once it has succeeded. */
export interface PinnedCodes {
  choose(task: PromptTask): Promise<PinnedCode | null>;
  /** By the key of its generation. */
  find(task: PromptTask, generation: string): Promise<PinnedCode>;
  /** Answers the key of its generation. Keeping the same code twice is harmless. */
  keep(task: PromptTask, proven: ProvenCode): Promise<string | null>;
  /** Keeps code that has not run, for somebody to look at. */
  propose(task: PromptTask, code: ProvenCode): Promise<void>;
  /** Why there is no code for a task that only kept code may do; `waits`: there is, and it only lacks an approval. */
  missing(task: PromptTask): Promise<{ message: string; waits: boolean }>;
}

/** Findings in a node's code without running it. */
export type CheckCode = (source: string, about: NodeFacts) => Promise<CodeFinding[]>;

/** What a pipeline is made of. */
export interface PipelineParts {
  models: Models;
  knowledge: Knowledge;
  pinned: PinnedCodes;
  check: CheckCode;
  /** `DEFAULT_MODEL`. */
  defaultModel?: string;
  /** pip names of what the sandbox template has. */
  packages: readonly string[];
  clock: { now(): number };
}
