import { join, relative } from "node:path";
import type { Finding } from "@nova/workflow";
import about from "../../package.json" with { type: "json" };

/**
 * Returns the path of a finding's file relative to the current folder, with slashes. `folder` is the folder of the
 * workflow.
 */
function fileOf({ file = "workflow.json" }: Finding, folder: string): string {
  return relative(".", join(folder, file)).replaceAll("\\", "/");
}

/**
 * Returns the position of a finding in its file. Returns undefined for a finding without a file: its line number counts
 * the lines of a text inside the definition, not the lines of a file.
 */
function placeOf({ file, line, column = 1 }: Finding): { line: number; column: number } | undefined {
  return file === undefined || line === undefined ? undefined : { line, column };
}

/**
 * Formats findings as workflow commands of GitHub Actions. GitHub then shows the findings beside the lines of a pull
 * request.
 */
export function githubLines(findings: readonly Finding[], folder: string): string[] {
  return findings.map((finding) => {
    const { code, severity, message } = finding;
    const at = placeOf(finding);
    const place = { file: fileOf(finding, folder), ...(at && { line: at.line, col: at.column }), title: code };
    const properties = Object.entries(place).map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
    return `::${severity} ${properties.join(",")}::${escapeData(message)}`;
  });
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Builds a log with findings in the Static Analysis Results Interchange Format 2.1.0 (OASIS). */
export function sarifLog(findings: readonly Finding[], folder: string) {
  const rules = [...new Set(findings.map(({ code }) => code))].sort();
  return {
    version: "2.1.0" as const,
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    runs: [
      {
        tool: { driver: { name: "nova", version: about.version, rules: rules.map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits" as const,
        results: findings.map((finding) => resultOf(finding, { rules, folder })),
      },
    ],
  };
}

function resultOf(finding: Finding, { rules, folder }: { rules: readonly string[]; folder: string }) {
  const at = placeOf(finding);
  const physicalLocation = {
    artifactLocation: { uri: encodeURI(fileOf(finding, folder)) },
    ...(at && { region: { startLine: at.line, startColumn: at.column } }),
  };
  return {
    ruleId: finding.code,
    ruleIndex: rules.indexOf(finding.code as string),
    level: finding.severity,
    message: { text: finding.message },
    locations: [{ physicalLocation, logicalLocations: [{ fullyQualifiedName: finding.path }] }],
  };
}
