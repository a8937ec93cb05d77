import { NovaError } from "@nova/engine";

/** The SDK and Node say "no connection" in many ways; a circuit breaker counts these and no others. */
const connectionCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
];

export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code && connectionCodes.includes(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  return isConnectionFailure(error.cause);
}

/** Only the control plane says so: a gateway's 502 "sandbox was not found" is a `TimeoutError`, and means nothing. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && error.name === "SandboxNotFoundError";
}

export function isFileMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === "FileNotFoundError" || error.name === "NotFoundError");
}

export function isRefusedKey(error: unknown): boolean {
  return error instanceof Error && error.name === "AuthenticationError";
}

/** More lifetime than the plan allows at all. */
export function isBeyondPlan(error: unknown): boolean {
  return error instanceof Error && (error as { statusCode?: number }).statusCode === 400;
}

/** What a caller of the control plane gets to see: retried patiently, but for what no patience will cure. */
export function asRunError(what: string, error: unknown): NovaError {
  if (error instanceof NovaError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isRefusedKey(error))
    return new NovaError("NodeFailed", `E2B refused the API key - set E2B_API_KEY (${reason})`, { cause: error });
  return new NovaError("SandboxUnavailable", `${what} (${reason})`, { cause: error });
}

/** The sandbox says something that no harness says. It is never tried again: nothing that it says can be believed. */
export class MalformedAnswer extends NovaError {
  constructor(what: string) {
    super("NodeFailed", `the sandbox does not speak as its harness does (${what}) - leave the harness alone`);
  }
}

/** An error of the engine's side (blobs, chain) on its way out through code that retries errors of E2B's side. */
export class IoFailure extends Error {
  override name = "IoFailure";

  constructor(cause: unknown) {
    super("the engine could not read or store what the node needs", { cause });
  }
}

/** The connection ended before everything was told, or what was told did not arrive whole. */
export class BrokenAttach extends Error {
  override name = "BrokenAttach";
}
