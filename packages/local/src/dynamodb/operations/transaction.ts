import { DynamoDbError } from "../errors.ts";

/** Why an action of a transaction could not be done, or `None`. */
export interface Reason {
  Code: string;
  Message?: string;
  Item?: unknown;
}

const codes: Record<string, string> = {
  ConditionalCheckFailedException: "ConditionalCheckFailed",
  ValidationException: "ValidationError",
};

/** Throws on what is no refusal of the action. */
export function reasonOf(error: unknown): Reason {
  const code = error instanceof DynamoDbError ? codes[error.type] : undefined;
  if (code === undefined) throw error;
  const { message, details } = error as DynamoDbError;
  return { Code: code, Message: message, ...details };
}

export function cancelled(reasons: Reason[]): DynamoDbError {
  const list = reasons.map(({ Code }) => Code).join(", ");
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`;
  return new DynamoDbError("TransactionCanceledException", message, { details: { CancellationReasons: reasons } });
}
