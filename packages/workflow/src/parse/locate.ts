import type { Finding } from "../findings/finding.ts";
import { segmentsOf } from "../findings/path.ts";
import { lineAndColumn, placeOf } from "../json/scan.ts";
import type { Document } from "./document.ts";

/** Findings with the line of the JSON that they are about, where they do not know a place yet. */
export function locate(findings: readonly Finding[], { scan, text }: Document, file: string): Finding[] {
  return findings.map((finding) => {
    if (finding.line !== undefined) return finding;
    const { offset } = placeOf(scan, segmentsOf(finding.path));
    return { ...finding, file, ...lineAndColumn(text, offset) };
  });
}
