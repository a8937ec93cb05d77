const namespaces: Record<string, string> = {
  ValidationException: "com.amazon.coral.validate",
  SerializationException: "com.amazon.coral.service",
  UnknownOperationException: "com.amazon.coral.service",
  UnrecognizedClientException: "com.amazon.coral.service",
  MissingAuthenticationTokenException: "com.amazon.coral.service",
  IncompleteSignatureException: "com.amazon.coral.service",
  InvalidSignatureException: "com.amazon.coral.service",
  RequestEntityTooLargeException: "com.amazon.coral.service",
  InternalServerError: "com.amazon.coral.service",
};

const statuses: Record<string, number> = {
  InternalServerError: 500,
  RequestEntityTooLargeException: 413,
  InsufficientStorage: 507,
};

/** A refusal in the shape that DynamoDB gives it; `details` are the fields beside type and message. */
export class DynamoDbError extends Error {
  override name = "DynamoDbError";
  readonly type: string;
  readonly status: number;
  readonly details: Record<string, unknown>;

  constructor(type: string, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.type = type;
    this.status = statuses[type] ?? 400;
    this.details = options.details ?? {};
  }

  toJSON(): Record<string, unknown> {
    const namespace = namespaces[this.type] ?? "com.amazonaws.dynamodb.v20120810";
    return { __type: `${namespace}#${this.type}`, message: this.message, ...this.details };
  }
}

export function invalid(message: string): DynamoDbError {
  return new DynamoDbError("ValidationException", message);
}

/** The many sentences that begin alike. */
export function invalidParameter(reason: string): DynamoDbError {
  return invalid(`One or more parameter values were invalid: ${reason}`);
}

export function malformed(message: string): DynamoDbError {
  return new DynamoDbError("SerializationException", message);
}

/** `item` is what `ReturnValuesOnConditionCheckFailure` asked for. */
export function conditionFailed(item?: unknown): DynamoDbError {
  const details = item === undefined ? {} : { Item: item };
  return new DynamoDbError("ConditionalCheckFailedException", "The conditional request failed", { details });
}
