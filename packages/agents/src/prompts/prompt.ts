/** What a model is told. The instructions are the same for many runs and come first: providers keep such prefixes. */
export interface Prompt {
  instructions: string;
  /** What is of this run alone: a data section. */
  input: string;
}
