import type { Finding } from "../findings/finding.ts";
import { segmentsOf } from "../findings/path.ts";
import { linesOf, placeOf, type Scan } from "../json/scan.ts";

/** Findings with the line of the JSON that they are about, where they do not know a place yet. */
export function locate(findings: readonly Finding[], json: { scan: Scan; text: string; file: string }): Finding[] {
  const placeAt = linesOf(json.text);
  return findings.map((finding) => {
    if (finding.line !== undefined) return finding;
    const { offset } = placeOf(json.scan, segmentsOf(finding.path));
    return { ...finding, file: json.file, ...placeAt(offset) };
  });
}
