import { useMemo } from "react";
import { useAddress } from "../../parts/address.ts";
import { type RunStatus, statuses } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";

export type Range = keyof typeof texts.runs.times;

/** What the address says of the list; what is absent filters nothing. */
export interface Filters {
  workflow?: string;
  client?: string;
  status?: RunStatus;
  range?: Range;
  error?: string;
  trigger?: string;
  /** The server does not know it: it is looked for among what was read. */
  text?: string;
}

const names = ["workflow", "client", "status", "range", "error", "trigger", "text"] as const;

export const rangesMs: Record<Range, number> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};

export function useFilters(): [Filters, ReturnType<typeof useAddress<keyof Filters>>[1]] {
  const [given, change] = useAddress(names);
  return [useMemo(() => filtersIn(given), [given]), change];
}

function filtersIn(given: Partial<Record<keyof Filters, string>>): Filters {
  const { status: _, range: __, ...rest } = given;
  const status = statuses.find((one) => one === given.status);
  const range = (Object.keys(texts.runs.times) as Range[]).find((one) => one === given.range);
  return { ...rest, ...(status && { status }), ...(range && { range }) };
}
