import { NovaError } from "@nova/engine";

/** Error codes of the SDK and Node that mean "no connection". */
const connectionCodes = (
  "ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH UND_ERR_SOCKET " +
  "UND_ERR_CONNECT_TIMEOUT"
).split(" ");

export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code && connectionCodes.includes(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  return isConnectionFailure(error.cause);
}

/** True if the control plane reports the sandbox as missing. A gateway's 502 "sandbox was not found" proves nothing. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && error.name === "SandboxNotFoundError";
}

export function isFileMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === "FileNotFoundError" || error.name === "NotFoundError");
}

export function isRefusedKey(error: unknown): boolean {
  return error instanceof Error && error.name === "AuthenticationError";
}

/** True if E2B refuses a request because it asks for more lifetime than the plan allows. */
export function isBeyondPlan(error: unknown): boolean {
  return error instanceof Error && (error as { statusCode?: number }).statusCode === 400;
}

/**
 * Turns an error of the control plane into an error that Step Functions retries. An error about a refused API key is
 * not retried.
 */
export function asRunError(what: string, error: unknown): NovaError {
  if (error instanceof NovaError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isRefusedKey(error))
    return new NovaError("NodeFailed", `E2B refused the API key - set E2B_API_KEY (${reason})`, { cause: error });
  return new NovaError("SandboxUnavailable", `${what} (${reason})`, { cause: error });
}

/**
 * Thrown if the sandbox sends a message that no harness sends. NOVA does not retry after this error, because the
 * sandbox can no longer be trusted.
 */
export class MalformedAnswer extends NovaError {
  constructor(what: string) {
    super("NodeFailed", `the sandbox does not speak as its harness does (${what}) - leave the harness alone`);
  }
}

/** Wraps an error of the engine (blobs, chain), so that code that retries E2B's errors does not retry this one. */
export class IoFailure extends Error {
  override name = "IoFailure";

  constructor(cause: unknown) {
    super("the engine could not read or store what the node needs", { cause });
  }
}

/** Thrown if the connection ended before the last answer. */
export class BrokenAttach extends Error {
  override name = "BrokenAttach";
}
