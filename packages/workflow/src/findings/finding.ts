import { accessFindings } from "./access.ts";
import { childFindings } from "./children.ts";
import { dataFindings } from "./data.ts";
import { forkFindings } from "./forks.ts";
import { graphFindings } from "./graph.ts";
import { laterFindings } from "./later.ts";
import { lockedFindings } from "./locked.ts";
import { loopFindings } from "./loops.ts";
import { nodeFindings } from "./nodes.ts";
import { promptFindings } from "./prompts.ts";
import { sourceFindings } from "./source.ts";
import { triggerFindings } from "./triggers.ts";
import { waitingFindings } from "./waiting.ts";

/** Every code there is; a code never changes its meaning, and the code of a removed finding is not used again. */
export const findings = {
  ...sourceFindings,
  ...triggerFindings,
  ...graphFindings,
  ...forkFindings,
  ...loopFindings,
  ...nodeFindings,
  ...waitingFindings,
  ...childFindings,
  ...promptFindings,
  ...accessFindings,
  ...dataFindings,
  ...lockedFindings,
  ...laterFindings,
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
