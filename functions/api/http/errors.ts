/** NOVA cannot read the request, or it exceeds a limit. */
export class Unreadable extends Error {
  override name = "Unreadable";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The route exists for other methods only. */
export class MethodNotAllowed extends Error {
  override name = "MethodNotAllowed";
  readonly allowed: string[];

  constructor(method: string, allowed: string[]) {
    super(`${method} is not possible here - use ${allowed.join(" or ")}`);
    this.allowed = allowed;
  }
}

/** Fields that do not fit their schema, each with its path. */
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
