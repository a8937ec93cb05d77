import { findings } from "../src/findings/finding.ts";
import type { FindingKind } from "../src/findings/kind.ts";

const groups: Record<string, string> = {
  NOVA1: "The file and its fields",
  NOVA2: "The graph",
  NOVA3: "Edges out of a decision",
  NOVA4: "One node",
  NOVA5: "What a run knows",
  NOVA6: "Python",
  NOVA7: "The state machine",
  NOVA8: "Locked code",
  NOVA9: "Not run by this release",
};

/** docs/findings.md: one paragraph per code. */
export function findingsPage(): string {
  const intro = [
    "# Findings",
    "",
    "What `nova validate` says about a workflow. All findings come at once; an error keeps a workflow from running, a warning does not. Codes never change their meaning.",
    "This page is generated from the table in `packages/workflow/src/findings`; `npm run generate -w @nova/workflow` writes it again.",
  ];
  const sections = Object.entries(groups).flatMap(([prefix, title]) => ["", `## ${title}`, ...paragraphs(prefix)]);
  return `${[...intro, ...sections].join("\n")}\n`;
}

function paragraphs(prefix: string): string[] {
  const entries = Object.entries<FindingKind>(findings).filter(([code]) => code.startsWith(prefix));
  return entries.flatMap(([code, kind]) => ["", ...paragraph(code, kind)]);
}

function paragraph(code: string, { severity, title, why, bad, good }: FindingKind): string[] {
  const mark = severity === "warning" ? " (warning)" : "";
  return [`### ${code}: ${title}${mark}`, "", why, "", "```", "# wrong", bad, "# right", good, "```"];
}
