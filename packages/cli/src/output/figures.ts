import { tableLines } from "./table.ts";
import { duration } from "./text.ts";

/** Figures as a table for people: a column for each, with the unit that the end of its name says. */
export function figureTable(items: readonly Readonly<Record<string, string | number | null>>[]): string[] {
  const names = Object.keys(items[0] ?? {});
  const rows = items.map((item) => names.map((name) => shown(name, item[name] ?? null)));
  return tableLines(names.map(titleOf), rows);
}

function titleOf(name: string): string {
  return name.replace(/_(ms|usd)$/, "").replaceAll("_", " ");
}

function shown(name: string, value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (name.endsWith("_rate")) return `${(value * 100).toFixed(1)} %`;
  if (name.endsWith("_ms")) return duration(Math.round(value));
  return name.endsWith("_usd") ? `$${value.toFixed(value === 0 || value >= 1 ? 2 : 4)}` : String(value);
}
