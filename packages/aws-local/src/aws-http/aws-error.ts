/**
 * An error as AWS sends it. The response contains `name` as `__type`, and the SDK creates an error of the class with
 * that name.
 */
export class AwsError extends Error {
  override readonly name: string;
  readonly status: number;

  constructor(name: string, message: string, status = 400, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
    this.status = status;
  }
}

export function validation(message: string): AwsError {
  return new AwsError("ValidationException", message);
}

/** Creates the error for a body that AWS's own parser would refuse. */
export function malformed(message: string): AwsError {
  return new AwsError("SerializationException", message);
}

export function constraint(field: string, value: unknown, rule: string): AwsError {
  const shown = value === undefined ? "null" : `'${value}'`;
  return validation(
    `1 validation error detected: Value ${shown} at '${field}' failed to satisfy constraint: Member ${rule}`,
  );
}
