import { isIP } from "node:net";
import { type Exception, type ExternalFailure, exceptionsOf, externalFailureOf } from "./external-failures.ts";
import { hostsInCode, hostsInMessage } from "./hosts.ts";

export interface FailedCode {
  /** The harness's one line: type and text of the last exception, or the code's own message. */
  message: string;
  /** Empty if there was no exception. */
  traceback: string;
  code: string;
}

/** Hosts and keys that the code may know. */
export interface KnownHosts {
  /** True if the task, the context, the workflow's own modules or its network rules name the host. */
  names(host: string): Promise<boolean>;
  has(key: string): boolean;
}

/**
 * Decides whether a failure is the fault of the code. It is "world" if a server that the node is meant to use is
 * unreachable, refuses the login, or fails itself, because other code would fail too. Everything else is "code",
 * including a host that the code made up, TLS with a port without TLS, and a refused login without credentials.
 */
export async function faultOf(failed: FailedCode, surroundings: KnownHosts): Promise<"code" | "world"> {
  const exceptions = exceptionsOf(failed);
  const [last] = exceptions;
  if (last?.type.endsWith("supply.Unavailable")) return "world";
  const failure = findExternalFailure(exceptions);
  if (!failure) return "code";
  if (failure.is === "login" && !hasCredentials(failed.code)) return "code";
  // An address that the code does not contain is the resolved address of a name.
  const named = exceptions
    .slice(0, failure.depth + 1)
    .flatMap(({ text }) => hostsInMessage(text))
    .filter((host) => isIP(host) === 0 || failed.code.includes(host));
  const hosts = named.length > 0 ? named : hostsInCode(failed.code, surroundings.has);
  for (const host of hosts) if (!(await surroundings.names(host))) return "code";
  return "world";
}

/**
 * Finds the external failure: the last exception, or the one that the code handled when it raised the last one (`raise
 * ... from error`, or a plain `raise`). Any other exception while handling an error is a mistake of the code.
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

/** True if the code uses credentials: without them, a refused login is the fault of the code. */
function hasCredentials(code: string): boolean {
  return /\bauth\s*=|authori[sz]|authent|token|api[-_]?key|passw|secret|\blogin\(|credential|\bpwd\b|\bdsn\b|conninfo|bearer/i.test(
    code,
  );
}
