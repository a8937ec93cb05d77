import type { Finding } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";

/** Exit codes of commands. */
export const exitCodes = { completed: 0, failed: 1, invalid: 2, interrupted: 130 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Thrown if a command cannot run with its input. The message is one sentence that says what to do. */
export class InvalidInput extends Error {
  override name = "InvalidInput";
}

/** Returns a handler for `catch` that throws `InvalidInput` with this sentence. */
export function throwInvalid(sentence: string | ((cause: NodeJS.ErrnoException) => string)) {
  return (cause: NodeJS.ErrnoException): never => {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput(typeof sentence === "string" ? sentence : sentence(cause), { cause });
  };
}

/** Thrown if a workflow has errors. `findings` has all of them. */
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
