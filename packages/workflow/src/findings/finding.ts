import { dataFindings } from "./data.ts";
import { graphFindings } from "./graph.ts";
import { lockedFindings } from "./locked.ts";
import { nodeFindings } from "./nodes.ts";
import { sourceFindings } from "./source.ts";
import { triggerFindings } from "./triggers.ts";

/** Every code there is; a code never changes its meaning, and the code of a removed finding is not used again. */
export const findings = {
  ...sourceFindings,
  ...triggerFindings,
  ...graphFindings,
  ...nodeFindings,
  ...dataFindings,
  ...lockedFindings,
} as const;

export type FindingCode = keyof typeof findings;

export interface Finding {
  code: FindingCode;
  severity: "error" | "warning";
  /** JSON path into the definition as it was written: `$.nodes[2].timeout`. */
  path: string;
  /** One sentence: what is wrong, and the way out. */
  message: string;
  /** File that `line` and `column` (both from 1) are about; without it they are about the text at `path`. */
  file?: string;
  line?: number;
  column?: number;
}

/** A finding with the severity that its code has. */
export function finding(
  code: FindingCode,
  path: string,
  message: string,
  place: Pick<Finding, "file" | "line" | "column"> = {},
): Finding {
  return { code, severity: findings[code].severity, path, message, ...place };
}
