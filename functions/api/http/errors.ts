/** What was sent cannot be read, or goes beyond a limit: an error of HTTP, not of what was asked. */
export class Unreadable extends Error {
  override name = "Unreadable";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The address is there, for other methods. */
export class MethodNotAllowed extends Error {
  override name = "MethodNotAllowed";
  readonly allowed: string[];

  constructor(method: string, allowed: string[]) {
    super(`${method} is not possible here - use ${allowed.join(" or ")}`);
    this.allowed = allowed;
  }
}

/** Fields that do not fit their schema, by their place. */
export class Misfit extends Error {
  override name = "Misfit";
  readonly status: 400 | 422;
  readonly errors: { path: string; message: string }[];

  constructor(status: 400 | 422, what: string, errors: { path: string; message: string }[]) {
    super(`${what} does not fit: ${errors.map(({ path, message }) => `${path}: ${message}`).join("; ")}`);
    this.status = status;
    this.errors = errors;
  }
}
