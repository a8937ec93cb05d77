/** What is remembered of tasks like this one, and what it has cost to look for it. */
export interface Recall {
  examples?: { task: string; code: string }[];
  /** Of the task. */
  embedding?: number[];
  spent: { tokens: number; usd: number };
  /** For the step that pays for it. */
  record: Record<string, unknown>;
}
