import type { Finding } from "@nova/workflow";

/**
 * The API key is missing or unknown. The message is the same for both, so that callers cannot find out which keys
 * exist.
 */
export class Unauthenticated extends Error {
  override name = "Unauthenticated";
}

/** The identity provider does not answer, so its tokens cannot be checked. */
export class IssuerUnreachable extends Error {
  override name = "IssuerUnreachable";
}

export class TooMany extends Error {
  override name = "TooMany";
  readonly retryAfterSeconds: number;

  constructor(limit: number, windowSeconds: number, retryAfterSeconds: number) {
    super(
      `this key has sent ${limit} requests in ${windowSeconds} seconds, which is the limit - try again in ${retryAfterSeconds} seconds`,
    );
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export class Forbidden extends Error {
  override name = "Forbidden";
}

/** The requested record does not exist, or it belongs to another client. The message is the same for both. */
export class NotFound extends Error {
  override name = "NotFound";
}

export class Conflict extends Error {
  override name = "Conflict";
}

/**
 * NOVA understands the request, but cannot do what it asks. For the definition of a workflow, `findings` holds all its
 * faults.
 */
export class Refused extends Error {
  override name = "Refused";
  readonly findings: Finding[];

  constructor(message: string, findings: Finding[] = [], options?: ErrorOptions) {
    super(message, options);
    this.findings = findings;
  }
}
