/** One row of the report: a check and its result. */
export interface Row {
  what: string;
  /** The number and the kind of the checked items, for example "12 requests". */
  looked: string;
  /** The problems that the check found, one line each. */
  wrong: string[];
}

/** Returns the report: a table of all rows, then their problems, then `notes`. */
export function reportOf(rows: readonly Row[], notes: readonly string[]): string {
  const cells = rows.map(({ what, looked, wrong }) => [
    what,
    looked,
    wrong.length === 0 ? "ok" : `${wrong.length} WRONG`,
  ]);
  const all = [["what", "looked at", "result"], ...cells];
  const widths = [0, 1].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  const details = rows
    .filter(({ wrong }) => wrong.length > 0)
    .flatMap(({ what, wrong }) => ["", `${what}:`, ...wrong.map((line) => `  ${line}`)]);
  return [...lines, ...details, "", ...notes].join("\n");
}
