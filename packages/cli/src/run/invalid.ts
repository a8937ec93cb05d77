import type { Finding } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { shellWord } from "../output/shell.ts";

/** The workflow has errors; they are all here. */
export class InvalidWorkflow extends InvalidInput {
  override name = "InvalidWorkflow";
  readonly findings: Finding[];

  constructor(path: string, findings: Finding[]) {
    const errors = findings.filter((one) => one.severity === "error");
    const more =
      errors.length > 1 ? ` (and ${errors.length - 1} more - nova validate ${shellWord(path)} lists them)` : "";
    super(`${errors[0]?.code}: ${errors[0]?.message}${more}`);
    this.findings = findings;
  }
}
