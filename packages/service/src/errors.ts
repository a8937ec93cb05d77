import type { Finding } from "@nova/workflow";

/** No key, or none that is known. Nothing says which of the two it was. */
export class Unauthenticated extends Error {
  override name = "Unauthenticated";
}

/** The identity provider does not answer: nobody can say whose a token is. */
export class IssuerUnreachable extends Error {
  override name = "IssuerUnreachable";
}

/** A key asks more often than any may. */
export class TooMany extends Error {
  override name = "TooMany";
  readonly retryAfterSeconds: number;

  constructor(limit: number, windowSeconds: number, retryAfterSeconds: number) {
    super(
      `this key has asked ${limit} times in ${windowSeconds} seconds, which is as often as any may - ask again in ${retryAfterSeconds} seconds`,
    );
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The key is known, and its role or its client does not reach so far. */
export class Forbidden extends Error {
  override name = "Forbidden";
}

/** There is no such thing, or it is another client's: both are told in the same words. */
export class NotFound extends Error {
  override name = "NotFound";
}

/** What is there stands against it, for now or for good. */
export class Conflict extends Error {
  override name = "Conflict";
}

/** It was understood and cannot be done as it was asked; of a definition with all that is wrong with it. */
export class Refused extends Error {
  override name = "Refused";
  readonly findings: Finding[];

  constructor(message: string, findings: Finding[] = [], options?: ErrorOptions) {
    super(message, options);
    this.findings = findings;
  }
}

/** For `catch`: what stands for an error of this kind. Others are thrown on. */
export function recoverFrom<E extends Error, T>(kind: new (...args: never[]) => E, answer: (error: E) => T) {
  return (error: unknown): T => {
    if (error instanceof kind) return answer(error);
    throw error;
  };
}
