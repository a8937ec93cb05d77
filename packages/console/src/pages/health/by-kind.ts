import type { Schemas } from "@nova/client";

type Stored = Schemas["StoredFormat"];

/** Adds up the counts of all pages by kind and format. */
export function sumByKind(parts: readonly Stored[]): Stored[] {
  const sums = new Map<string, Stored>();
  for (const part of parts) {
    const name = `${part.entity} ${part.format}`;
    const sum = sums.get(name);
    sums.set(name, sum ? { ...sum, items: sum.items + part.items } : part);
  }
  return Array.from(sums.values()).sort(
    (a, b) => a.entity.localeCompare(b.entity) || (a.format ?? 0) - (b.format ?? 0),
  );
}
