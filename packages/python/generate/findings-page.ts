import { type CodeFindingKind, codeFindings } from "../src/findings/codes.ts";

const groups: Record<string, string> = {
  PY10: "Names and syntax",
  PY11: "Keys of the context",
  PY12: "The result",
  PY13: "Decisions",
  PY14: "Imports",
  PY15: "Values",
};

/** docs/python-findings.md: one paragraph per code. */
export function findingsPage(): string {
  const intro = [
    "# Findings in Python",
    "",
    "What `nova check` says about the code of one node, and what the pipeline of prompt nodes tells the model before code reaches a sandbox. Nothing is run, and no model is asked.",
    "Errors are certain: what cannot be known for sure is a warning, or nothing. `# noqa` silences a line, `# noqa: PY110` one code on it. Codes never change their meaning.",
    "This page is generated from the table in `packages/python/src/findings/codes.ts`; `npm run generate -w @nova/python` writes it again.",
  ];
  const sections = Object.entries(groups).flatMap(([prefix, title]) => ["", `## ${title}`, ...paragraphs(prefix)]);
  return `${[...intro, ...sections].join("\n")}\n`;
}

function paragraphs(prefix: string): string[] {
  const entries = Object.entries<CodeFindingKind>(codeFindings).filter(([code]) => code.startsWith(prefix));
  return entries.flatMap(([code, kind]) => ["", ...paragraph(code, kind)]);
}

function paragraph(code: string, { severity, title, why, bad, good }: CodeFindingKind): string[] {
  const mark = severity === "warning" ? " (warning)" : "";
  return [`### ${code}: ${title}${mark}`, "", why, "", "```python", "# wrong", bad, "# right", good, "```"];
}
