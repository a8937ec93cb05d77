import type { Finding } from "@nova/workflow";
import { styled } from "./terminal.ts";

/** Formats findings with their positions. */
export function findingLines(findings: readonly (Omit<Finding, "code"> & { code: string })[]): string[] {
  return findings.flatMap(({ code, severity, message, ...place }) => {
    const mark = severity === "error" ? styled("red", "error") : styled("yellow", "warning");
    return [`${mark} ${styled("bold", code)} ${message}`, styled("dim", `  at ${placeText(place)}`)];
  });
}

function placeText({ path, file, line, column }: Pick<Finding, "path" | "file" | "line" | "column">): string {
  const position = line === undefined ? "" : `:${line}:${column ?? 1}`;
  return file === undefined ? path + (position && ` (line ${line})`) : file + position;
}

/** Findings in the order of fields that `--json` prints. */
export function diagnosticsOf(findings: readonly Finding[]): Finding[] {
  return findings.map(({ code, severity, path, message, ...place }) => ({ code, severity, path, message, ...place }));
}
