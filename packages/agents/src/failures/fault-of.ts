import { isIP } from "node:net";
import { type Exception, type ExternalFailure, exceptionsOf, externalFailureOf } from "./external-failures.ts";
import { hostsInCode, hostsInMessage } from "./hosts.ts";

export interface FailedCode {
  /** The harness's one line: type and text of the last exception, or what the code said. */
  message: string;
  /** Empty where there was no exception. */
  traceback: string;
  code: string;
}

/** What of the world the code was told about. */
export interface KnownHosts {
  /** Whether the task, the context, the workflow's own modules or its network rules name a host. */
  names(host: string): Promise<boolean>;
  has(key: string): boolean;
}

/**
 * Whose fault a failure is. `world`: other code would fail alike, since a server that the node is meant to use cannot be
 * reached, does not let it in, or fails itself. Everything else is the code's: also a host that it has made up, TLS with a
 * port that speaks none, and a refused login that it never brought credentials to.
 */
export async function faultOf(failed: FailedCode, surroundings: KnownHosts): Promise<"code" | "world"> {
  const exceptions = exceptionsOf(failed);
  const [last] = exceptions;
  if (last?.type.endsWith("supply.Unavailable")) return "world";
  const failure = findExternalFailure(exceptions);
  if (!failure) return "code";
  if (failure.is === "login" && !hasCredentials(failed.code)) return "code";
  // An address that the code does not spell out is what a name led to.
  const named = exceptions
    .slice(0, failure.depth + 1)
    .flatMap(({ text }) => hostsInMessage(text))
    .filter((host) => isIP(host) === 0 || failed.code.includes(host));
  const hosts = named.length > 0 ? named : hostsInCode(failed.code, surroundings.has);
  for (const host of hosts) if (!(await surroundings.names(host))) return "code";
  return "world";
}

/**
 * The failure of the world that the last exception is, or that it was raised for: `raise ... from error`, or a `raise` of
 * the code's own while it handled one. A mistake made while handling an error is a mistake.
 */
function findExternalFailure(exceptions: readonly Exception[]): { is: ExternalFailure; depth: number } | undefined {
  for (const [depth, exception] of exceptions.entries()) {
    const is = externalFailureOf(exception);
    if (is) return { is, depth };
    const isRaisedFor =
      exception.after === "cause" || (exception.after === "context" && /^raise\b/.test(exception.line));
    if (!isRaisedFor) return undefined;
  }
  return undefined;
}

/** A login can fail for the world's reasons only if there was one. */
function hasCredentials(code: string): boolean {
  return /\bauth\s*=|authori[sz]|authent|token|api[-_]?key|passw|secret|\blogin\(|credential|\bpwd\b|\bdsn\b|conninfo|bearer/i.test(
    code,
  );
}
