import type { LinkId } from "./chain.ts";

/** US dollars of a calendar month (UTC). */
export interface MonthBudget {
  spentUsd: number;
  limitUsd: number;
}

/** What models may cost a client. */
export interface Budgets {
  /** Of this month; null where there is no limit. */
  ofMonth(client: string): Promise<MonthBudget | null>;
  /** What a node has cost its client so far: again and again while it goes on, never less than before. */
  note(client: string, node: LinkId, usd: number): Promise<void>;
}
