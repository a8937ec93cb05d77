/** What docs/findings.md says about one code. `bad` and `good` are sources: JSON lines, or Python. */
export interface FindingKind {
  severity: "error" | "warning";
  title: string;
  why: string;
  bad: string;
  good: string;
}
