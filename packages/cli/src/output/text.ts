import { stripVTControlCharacters } from "node:util";
import { formatDuration, formatRate, formatUsd } from "@nova/client";
import type { Finding } from "@nova/workflow";
import { type CommandOutput, sanitize, styled } from "./terminal.ts";

/** Returns a text as one line, cut to at most `length` characters. */
export function shorten(text: string, length = 100): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ");
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** Formats a text from other people as one line without control characters. */
export function untrustedLine(text: string, length?: number): string {
  return shorten(text.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), length);
}

/**
 * Formats a text from other people for a table cell. Cuts the text if the output is a terminal. If a program reads the
 * output, keeps the whole text.
 */
export function cell(text: string, length = 60): string {
  return untrustedLine(text, process.stdout.isTTY ? length : Number.POSITIVE_INFINITY);
}

const colours = {
  completed: "green",
  success: "green",
  failed: "red",
  cancelled: "yellow",
  interrupted: "yellow",
  running: "cyan",
  queued: "cyan",
  waiting: "cyan",
} as const;

export function statusText(status: keyof typeof colours): string {
  return styled(colours[status], status);
}

/** Formats a text under a title. Returns no lines if there is no text. */
export function section(name: string, text: string | null | undefined): string[] {
  return text ? [styled("cyan", `${name}:`), indent(text)] : [];
}

export function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}

/** Returns the name of a workflow for people, with the id that they can type in parentheses. */
export type NameOf = (workflow: string) => string;

/**
 * Describes a list: its columns by title, each a field or a function of an item, and the sentence that is printed if
 * the list is empty.
 */
export interface ListShape<T> {
  columns: Record<string, keyof T | ((item: T, nameOf: NameOf) => string | null | undefined)>;
  empty: string;
}

/** Returns a list in two forms: as one JSON object, and as a table for people. */
export function listed<T>(items: readonly T[], { columns, empty }: ListShape<T>, nameOf?: NameOf): CommandOutput {
  return { json: { items }, text: items.length === 0 ? empty : tableOf(items, columns, nameOf) };
}

/** Formats items as a table with a row for each. */
export function tableOf<T>(
  items: readonly T[],
  columns: ListShape<T>["columns"],
  nameOf: NameOf = (id) => id,
): string[] {
  const rowOf = (item: T) =>
    Object.values(columns).map((column) =>
      String((typeof column === "function" ? column(item, nameOf) : item[column]) ?? ""),
    );
  return tableLines(Object.keys(columns), items.map(rowOf));
}

/**
 * Formats a table. A column is as wide as its widest cell, without counting colours. The last column may have wider
 * cells.
 */
export function tableLines(header: string[], cells: string[][]): string[] {
  // Cells are escaped before their widths are counted, because an escaped control character is longer.
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

/**
 * Formats statistics as a table with a column for each field. The name of a field ends with the unit of its values, for
 * example `_ms`.
 */
export function figureTable(items: readonly Readonly<Record<string, string | number | null>>[]): string[] {
  const names = Object.keys(items[0] ?? {});
  const rows = items.map((item) => names.map((name) => formatFigure(name, item[name] ?? null)));
  const header = names.map((name) => name.replace(/_(ms|usd)$/, "").replaceAll("_", " "));
  return tableLines(header, rows);
}

function formatFigure(name: string, value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (name.endsWith("_rate")) return formatRate(value);
  if (name.endsWith("_ms")) return formatDuration(value);
  return name.endsWith("_usd") ? formatUsd(value) : String(value);
}

/** Formats findings with their positions. */
export function findingLines(findings: readonly (Omit<Finding, "code"> & { code: string })[]): string[] {
  return findings.flatMap(({ code, severity, message, ...place }) => {
    const mark = severity === "error" ? styled("red", "error") : styled("yellow", "warning");
    return [`${mark} ${styled("bold", code)} ${message}`, styled("dim", `  at ${placeText(place)}`)];
  });
}

function placeText({ path, file, line, column }: Pick<Finding, "path" | "file" | "line" | "column">): string {
  const position = line === undefined ? "" : `:${line}:${column ?? 1}`;
  return file === undefined ? path + (position && ` (line ${line})`) : file + position;
}

/** Returns findings with their fields in the order that `--json` prints. */
export function diagnosticsOf(findings: readonly Finding[]): Finding[] {
  return findings.map(({ code, severity, path, message, ...place }) => ({ code, severity, path, message, ...place }));
}
