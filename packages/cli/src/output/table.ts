import { stripVTControlCharacters, styleText } from "node:util";

/** Columns as wide as their widest cell; colours do not count. */
export function tableLines(header: string[], rows: string[][]): string[] {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => width(row[column] ?? ""))));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - width(cell)))
      .join("  ")
      .trimEnd();
  return [styleText("dim", line(header)), ...rows.map(line)];
}

function width(text: string): number {
  return stripVTControlCharacters(text).length;
}
