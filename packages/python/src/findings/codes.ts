import type { LineColumn } from "../lines.ts";

/**
 * The codes of `nova check` by their severity, without `PY`; docs/python-findings.md explains each. A code never changes
 * its meaning, and that of a removed finding is not used again.
 */
const errors = [101, 102, 103, 105, 110, 111, 113, 120, 130, 140, 141, 150, 151] as const;
const warnings = [104, 112, 122] as const;

export type CodeFindingCode = `PY${(typeof errors | typeof warnings)[number]}`;

export const codeFindings = Object.fromEntries([
  ...errors.map((code) => [`PY${code}`, "error"]),
  ...warnings.map((code) => [`PY${code}`, "warning"]),
]) as Record<CodeFindingCode, CodeFinding["severity"]>;

export interface CodeFinding extends LineColumn {
  code: CodeFindingCode;
  /** One sentence: what is wrong, and the way out. */
  message: string;
  severity: "error" | "warning";
}
