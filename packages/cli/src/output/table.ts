import { stripVTControlCharacters } from "node:util";
import { type CommandOutput, sanitize, styled } from "./terminal.ts";
import { duration } from "./text.ts";

/** A list: columns by title, each a field or a function of an item, and the sentence for an empty list. */
export interface ListShape<T> {
  columns: Record<string, keyof T | ((item: T) => string | null | undefined)>;
  empty: string;
}

/** A list as one JSON object, or as a table for people. */
export function listed<T>(items: readonly T[], { columns, empty }: ListShape<T>): CommandOutput {
  const rowOf = (item: T) =>
    Object.values(columns).map((column) => String((typeof column === "function" ? column(item) : item[column]) ?? ""));
  return { json: { items }, text: items.length === 0 ? empty : tableLines(Object.keys(columns), items.map(rowOf)) };
}

/** Formats a table. A column is as wide as its widest cell; colours and the last cell of a row do not count. */
export function tableLines(header: string[], cells: string[][]): string[] {
  // This comes before widths are counted, because escaped control characters are longer.
  const rows = cells.map((row) => row.map((cell) => sanitize(cell).replaceAll(/\s*\n\s*|\t/g, " ")));
  const widths = header.map((title, column) => {
    const beside = rows.filter((row) => column < row.length - 1);
    return Math.max(title.length, ...beside.map((row) => width(row[column] ?? "")));
  });
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join("  ")
      .trimEnd();
  return [styled("dim", line(header)), ...rows.map(line)];
}

function width(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Formats statistics as a table, with a column for each field; the end of its name tells the unit. */
export function figureTable(items: readonly Readonly<Record<string, string | number | null>>[]): string[] {
  const names = Object.keys(items[0] ?? {});
  const rows = items.map((item) => names.map((name) => formatFigure(name, item[name] ?? null)));
  const header = names.map((name) => name.replace(/_(ms|usd)$/, "").replaceAll("_", " "));
  return tableLines(header, rows);
}

function formatFigure(name: string, value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (name.endsWith("_rate")) return `${(value * 100).toFixed(1)} %`;
  if (name.endsWith("_ms")) return duration(Math.round(value));
  return name.endsWith("_usd") ? `$${value.toFixed(value === 0 || value >= 1 ? 2 : 4)}` : String(value);
}
