import type { LinkId } from "@nova/engine";

/** What models have cost clients, by calendar month. */
export interface SpendingStore {
  /** What a node has cost so far; less than is there is ignored. `month`: `2026-11`. */
  note(client: string, month: string, node: LinkId, usd: number): Promise<void>;
  /** US dollars of a month. */
  ofMonth(client: string, month: string): Promise<number>;
}
