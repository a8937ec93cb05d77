import { stripVTControlCharacters } from "node:util";
import { harmless, styled } from "./terminal.ts";

/** Columns as wide as their widest cell; colours do not count. */
export function tableLines(header: string[], cells: string[][]): string[] {
  // Before widths are counted: what steers a terminal is longer when it is shown.
  const rows = cells.map((row) => row.map((cell) => harmless(cell).replaceAll(/\s*\n\s*|\t/g, " ")));
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => width(row[column] ?? ""))));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - width(cell)))
      .join("  ")
      .trimEnd();
  return [styled("dim", line(header)), ...rows.map(line)];
}

function width(text: string): number {
  return stripVTControlCharacters(text).length;
}
