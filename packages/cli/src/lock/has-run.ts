import { hashOf, type LockedCode } from "@nova/workflow";
import type { Recorded } from "./recorded.ts";

/** Whether a recorded run ran this code; code that needs an analysis, behind this one. */
export function hasRun({ code, analysis }: Pick<LockedCode, "code" | "analysis">, { entry }: Recorded): boolean {
  if (entry.code_hash !== hashOf(code)) return false;
  return analysis === undefined || entry.ai_metadata?.analysis_metadata?.analysis_code === analysis;
}
