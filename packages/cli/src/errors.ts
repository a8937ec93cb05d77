/** What a command ends with. */
export const exitCodes = { completed: 0, failed: 1, invalid: 2, interrupted: 130 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What was asked for cannot be done as it was written; the message is one sentence with the way out. */
export class InvalidInput extends Error {
  override name = "InvalidInput";
}
