import type { Read } from "./lock/reads.ts";

/** The key under which the task's code finds what an analysis found; no node's result. */
export const analysisKey = "_data_analysis";

/** Whether code may read what an analysis found, in whatever way it names it: then it needs one wherever it runs. */
export function needsAnalysis(code: string): boolean {
  return code.includes(analysisKey);
}

/** What code and the analysis in front of it read of a context. What one of them cannot do without, both cannot. */
export function readsTogether(code: readonly Read[], analysis: readonly Read[]): Read[] {
  const reads = new Map<string, Read>();
  for (const read of [...code, ...analysis]) {
    if (read.path === analysisKey || read.path.startsWith(`${analysisKey}.`)) continue;
    const known = reads.get(read.path);
    reads.set(read.path, known?.optional === false ? known : read);
  }
  return Array.from(reads.values());
}
