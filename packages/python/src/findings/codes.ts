import type { LineColumn } from "../lines.ts";

/**
 * All codes of `nova check` with their severities; docs/python-findings.md explains each. A code never changes its
 * meaning, and the code of a removed finding is never reused.
 */
export const codeFindings = {
  PY101: "error",
  PY102: "error",
  PY103: "error",
  PY104: "warning",
  PY105: "error",
  PY110: "error",
  PY111: "error",
  PY112: "warning",
  PY113: "error",
  PY120: "error",
  PY121: "warning",
  PY122: "warning",
  PY130: "error",
  PY140: "error",
  PY141: "error",
  PY150: "error",
  PY151: "error",
} as const;

export type CodeFindingCode = keyof typeof codeFindings;

export interface CodeFinding extends LineColumn {
  code: CodeFindingCode;
  /** One sentence that says what is wrong and what to do. */
  message: string;
  severity: "error" | "warning";
}
