import type { Finding } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";

/** What a command ends with. */
export const exitCodes = { completed: 0, failed: 1, invalid: 2, interrupted: 130 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What was asked for cannot be done as it was written; the message is one sentence with the way out. */
export class InvalidInput extends Error {
  override name = "InvalidInput";
}

/** For `catch`: what failed, failed because of what was typed. `sentence` says so, with the way out. */
export function refusing(sentence: string | ((cause: NodeJS.ErrnoException) => string)) {
  return (cause: NodeJS.ErrnoException): never => {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput(typeof sentence === "string" ? sentence : sentence(cause), { cause });
  };
}

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
