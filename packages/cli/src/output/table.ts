import { stripVTControlCharacters } from "node:util";
import { harmless, styled, type Told } from "./terminal.ts";
import { duration } from "./text.ts";

interface ListShape<T> {
  header: string[];
  rowOf(item: T): string[];
  /** Said where there is none. */
  empty: string;
}

/** A list: one JSON object, or a table for people. */
export function told<T>(items: readonly T[], { header, rowOf, empty }: ListShape<T>): Told {
  return { json: { items }, text: items.length === 0 ? empty : tableLines(header, items.map(rowOf)) };
}

/** Columns as wide as their widest cell; colours do not count, nor does a row's last cell, which may be longer. */
export function tableLines(header: string[], cells: string[][]): string[] {
  // Before widths are counted: what steers a terminal is longer when it is shown.
  const rows = cells.map((row) => row.map((cell) => harmless(cell).replaceAll(/\s*\n\s*|\t/g, " ")));
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

/** Figures as a table for people: a column for each, with the unit that the end of its name says. */
export function figureTable(items: readonly Readonly<Record<string, string | number | null>>[]): string[] {
  const names = Object.keys(items[0] ?? {});
  const rows = items.map((item) => names.map((name) => shown(name, item[name] ?? null)));
  const header = names.map((name) => name.replace(/_(ms|usd)$/, "").replaceAll("_", " "));
  return tableLines(header, rows);
}

function shown(name: string, value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (name.endsWith("_rate")) return `${(value * 100).toFixed(1)} %`;
  if (name.endsWith("_ms")) return duration(Math.round(value));
  return name.endsWith("_usd") ? `$${value.toFixed(value === 0 || value >= 1 ? 2 : 4)}` : String(value);
}
