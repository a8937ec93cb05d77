import { isIP } from "node:net";

export interface FailedCode {
  /**
   * One line from the harness: the type and text of the last exception, or a message of the code or the harness itself.
   */
  message: string;
  traceback: string;
  code: string;
}

/** The hosts and keys that code can name without making them up. */
export interface KnownHosts {
  /** True if the task, the context, the workflow's own modules or its network rules name the host. */
  names(host: string): Promise<boolean>;
  has(key: string): boolean;
}

/**
 * Decides whether a failure is the fault of the code. Returns "world" if a server that the node is meant to use is
 * unreachable, refuses the login, or fails itself, because other code would fail too. Returns "code" for every other
 * failure: for example, the code made up the host, uses TLS with a port without TLS, or logs in without credentials.
 */
export async function faultOf(failed: FailedCode, surroundings: KnownHosts): Promise<"code" | "world"> {
  const exceptions = exceptionsOf(failed);
  const [last] = exceptions;
  if (last?.type.endsWith("supply.Unavailable")) return "world";
  const failure = findExternalFailure(exceptions);
  if (!failure) return "code";
  if (failure.is === "login" && !hasCredentials(failed.code)) return "code";
  // Leaves out IP addresses that the code does not contain, because the system looked them up for a host name.
  const named = exceptions
    .slice(0, failure.depth + 1)
    .flatMap(({ text }) => hostsInMessage(text))
    .filter((host) => isIP(host) === 0 || failed.code.includes(host));
  const hosts = named.length > 0 ? named : hostsInCode(failed.code, surroundings.has);
  for (const host of hosts) if (!(await surroundings.names(host))) return "code";
  return "world";
}

/**
 * Finds the external failure: the last exception, or the exception that the code handled when it raised the last one
 * (`raise ... from error`, or a plain `raise`). Any other exception that is raised while the code handles an error is a
 * mistake of the code.
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

/** Returns true if the code uses credentials. If it does not, a refused login is the fault of the code. */
function hasCredentials(code: string): boolean {
  return /\bauth\s*=|authori[sz]|authent|token|api[-_]?key|passw|secret|\blogin\(|credential|\bpwd\b|\bdsn\b|conninfo|bearer/i.test(
    code,
  );
}

export function hostsInMessage(text: string): string[] {
  return findHosts(text, [
    /\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/@"']*@)?([a-z0-9_.-]+)/gi,
    /\bhost(?:name)?\s*[=:]?\s*['"]([^'"]+)['"]/gi,
    /\bserver at ['"]([^'"]+)['"]/gi,
    /\bhost name ['"]([^'"]+)['"]/gi,
    /\bresolve(?: host)?:? ['"]?([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)/gi,
    /\(\s*['"]([a-z0-9_.:-]+)['"],\s*\d{1,5}\b/gi,
  ]);
}

/**
 * Finds hosts that the code contains: in URLs, as arguments of clients, and in variables named after hosts. Defaults
 * (`context.get("host", "...")`) count only if the context lacks the key, which `has` checks.
 */
export function hostsInCode(code: string, has: (key: string) => boolean): string[] {
  const source = code.replace(/^[ \t]*#.*$/gm, "");
  const defaults = Array.from(
    source.matchAll(/\.get\(\s*["'](\w*(?:host|server|url|endpoint)\w*)["']\s*,\s*["']([^"'\s]+)["']\s*\)/gi),
    ([whole, key = "", value = ""]) => ({ whole, key, value }),
  );
  const rest = defaults.reduce((text, { whole }) => text.replace(whole, ".get()"), source);
  const taken = defaults.filter(({ key }) => !has(key)).map(({ value }) => hostOf(value));
  const spelt = findHosts(rest, [
    /\b[a-z][a-z0-9+]*:\/\/(?:[^\s/@"'{}]*@)?([a-z0-9_.-]+)(?=[:/"'?#\s]|$)/gi,
    /\b(?:IMAP4|IMAP4_SSL|SMTP|SMTP_SSL|POP3|POP3_SSL|FTP|FTP_TLS|HTTPConnection|HTTPSConnection|create_connection|connect|gethostbyname|getaddrinfo)\(\s*\(?\s*["']([a-z0-9_.-]+)["']/gi,
    /\b\w*(?:host|hostname|server)\s*=\s*["']([a-z0-9_.-]+)["']/gi,
    /["'\s]host=([a-z0-9_.-]+)/gi,
  ]);
  return [...taken, ...spelt].filter((host) => host !== "" && !isNamespace(host));
}

function findHosts(text: string, patterns: readonly RegExp[]): string[] {
  const hosts = patterns.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, host = ""]) => host.toLowerCase()),
  );
  return Array.from(new Set(hosts.map((host) => host.replace(/\.$/, ""))));
}

/** Extracts the host from a URL or host name. */
function hostOf(text: string): string {
  return (/^(?:[a-z][a-z0-9+]*:\/\/)?(?:[^/@]*@)?([a-z0-9_.-]+)/i.exec(text)?.[1] ?? "").toLowerCase();
}

/** Returns true for XML namespaces, which look like URLs. */
function isNamespace(host: string): boolean {
  return /^(www\.w3\.org|schemas\.|purl\.org)/.test(host);
}

/**
 * Finds in a run's log why a host could not be reached, because isolated code itself only sees a broken connection.
 * Returns an empty text if the log gives no reason.
 */
export function findUnreachableHost(logs: string): string {
  const [, said = ""] = Array.from(logs.matchAll(/^\[network\] (.+ cannot be reached: .+)$/gm)).at(-1) ?? [];
  return said;
}

/** A failure outside the code. `login` counts only if the code uses credentials. */
export type ExternalFailure = "connection" | "login" | "server";

interface Rule {
  type: RegExp;
  text?: RegExp;
  unless?: RegExp;
  is: ExternalFailure;
}

/** Texts of errors about broken, refused or missing connections, independent of their type. */
const connectionLost =
  /connection (refused|reset|aborted|timed out|unexpectedly closed)|\[errno (101|104|110|111|113|-[235])\]|name or service not known|temporary failure in name resolution|no address associated|name does not resolve|getaddrinfo failed|could not (translate host name|resolve host)|failed to resolve|network is unreachable|no route to host|certificate[ _]verify[ _]failed|certificate has expired|remote end closed connection|server closed the connection|handshake (operation )?timed out|(connect|read|operation|request|response|socket)\w* timed out|(connection|connect|read) ?timeout|timeout expired/i;

/**
 * Texts of errors about TLS at a port without TLS, or about a missing TLS at a port that requires it. Such errors are
 * mistakes of the code.
 */
const wrongProtocol =
  /wrong[ _]version[ _]number|unknown[ _]protocol|http_request|record layer failure|packet length too long/i;

const loginRefused =
  /authentication ?failed|authenticationfailed|authentication (unsuccessful|error|credentials invalid)|login (failed|incorrect|denied|unsuccessful|authentication failed)|(invalid|bad|incorrect|wrong) (credentials|login|password|username|user ?name or password)|username and password not accepted|password authentication failed|access denied for user|no pg_hba\.conf entry|not authori[sz]ed to log ?in/i;

const databaseDown =
  /the database system is|too many (connections|clients)|remaining connection slots|server (closed|terminated)|terminating connection|administrator command|ssl (error|connection has been closed)/i;

/** The HTTP status in error texts of common libraries. */
const httpStatus =
  /^(?:HTTP Error )?(\d{3})(?: (?:Client|Server) Error:|:|, message=)|^(?:Client|Server) error '(\d{3})|\b(?:HTTP|status(?:[ _]code)?)(?: error)?\s*[:=]?\s*(5\d\d|429|401)\b/i;

/** Types of connection errors, independent of their text. */
const connectionTypes = [
  /(^|\.)(ConnectionRefusedError|ConnectionResetError|ConnectionAbortedError|gaierror|herror)$/,
  /(^|\.)SSL\w*Error$/,
  /^requests\.exceptions\.(ConnectionError|ConnectTimeout|ReadTimeout|Timeout|ProxyError|ChunkedEncodingError)$/,
  /^urllib3\.exceptions\.(MaxRetryError|NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProtocolError)$/,
  /^http(x|core)\.(ConnectError|ConnectTimeout|ReadTimeout|ReadError|WriteError|WriteTimeout|RemoteProtocolError)$/,
  /^aiohttp\.\w+\.(Client(Connector|OS|ConnectorCertificate|ConnectorSSL)\w*Error|Server\w*(Error|Disconnected\w*))$/,
  /^http\.client\.(RemoteDisconnected|IncompleteRead)$/,
  /^(imaplib\.IMAP4\.abort|smtplib\.SMTPConnectError)$/,
  /^redis\.exceptions\.(ConnectionError|TimeoutError|BusyLoadingError)$/,
  /^(botocore\.exceptions\.\w*(Connection|Timeout|Endpoint)\w*|google\.api_core\.exceptions\.ServiceUnavailable)$/,
];

const rules: readonly Rule[] = [
  ...connectionTypes.map((type): Rule => ({ type, is: "connection" })),
  { type: /^smtplib\.SMTPServerDisconnected$/, is: "connection", unless: /run connect\(\) first/i },
  { type: /^smtplib\.SMTPAuthenticationError$/, is: "login" },
  { type: /^smtplib\.SMTP/, text: /\(4\d\d,/, unless: /\(5\d\d,/, is: "server" },
  { type: /^ftplib\.error_temp$/, is: "server" },
  { type: /^(imaplib\.IMAP4\.error|poplib\.error_proto|ftplib\.error_perm)$/, text: loginRefused, is: "login" },
  { type: /(^|\.)\w*AuthenticationE(rror|xception)$/, is: "login" },
  { type: /^(psycopg|psycopg2|pymysql|MySQLdb)\b.*(Operational|Interface)Error$/, text: loginRefused, is: "login" },
  { type: /^(psycopg|psycopg2)\b.*(Operational|ConnectionTimeout)\w*$/, text: connectionLost, is: "connection" },
  { type: /^(psycopg|psycopg2|pymysql|MySQLdb)\b.*OperationalError$/, text: databaseDown, is: "server" },
  { type: /^psycopg\.errors\.(ConnectionTimeout|AdminShutdown|CannotConnectNow|TooManyConnections)$/, is: "server" },
  { type: /^psycopg\.errors\.Invalid(Password|AuthorizationSpecification)$/, is: "login" },
  { type: /^pymysql\.err\.OperationalError$/, text: /\((2002|2003|2006|2013),/, is: "connection" },
];

/** Matches source files of libraries that use the network: a timeout in one of them is a lost connection. */
const networkFiles =
  /[/\\](socket|ssl|smtplib|imaplib|poplib|ftplib|selectors|http[/\\]client|urllib[/\\]request|urllib3[/\\]\w+|requests[/\\]\w+)\.py$/;

/** Classifies an exception; undefined if it is no external failure. */
export function externalFailureOf(exception: Exception): ExternalFailure | undefined {
  const { type, text, files } = exception;
  if (wrongProtocol.test(text)) return undefined;
  const rule = rules.find((one) => one.type.test(type) && (one.text?.test(text) ?? true) && !one.unless?.test(text));
  if (rule) return rule.is;
  if (isMistake(type)) return undefined;
  const status = statusOf(text);
  if (status !== undefined) return failureOfStatus(status);
  if (/^(TimeoutError|socket\.timeout|timeout|BrokenPipeError)$/.test(type)) {
    const isSocket = text === "timed out" || files.some((file) => networkFiles.test(file));
    return isSocket || connectionLost.test(text) ? "connection" : undefined;
  }
  if (type === "ValueError") return undefined;
  if (connectionLost.test(text)) return "connection";
  return loginRefused.test(text) ? "login" : undefined;
}

/** Returns true if Python raises exceptions of this type only for mistakes in code. */
function isMistake(type: string): boolean {
  return /^(Type|Name|Attribute|Key|Index|Lookup|Syntax|Indentation|Import|ModuleNotFound|ZeroDivision|Assertion|UnboundLocal|Unicode\w*|JSONDecode|FileNotFound|Permission|IsADirectory|NotADirectory|FileExists|Recursion|Memory|Overflow)Error$/.test(
    type.split(".").at(-1) ?? "",
  );
}

function statusOf(text: string): number | undefined {
  const [, first, second, third] = httpStatus.exec(text) ?? [];
  const digits = first ?? second ?? third;
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Classifies an HTTP status. 429 and 408 count as failures of the server, because they are temporary. 403 counts as a
 * refused login, because some servers send it for a wrong password.
 */
function failureOfStatus(status: number): ExternalFailure | undefined {
  if (status >= 500 || status === 429 || status === 408) return "server";
  return status === 401 || status === 403 || status === 407 ? "login" : undefined;
}

/** An exception, parsed from Python's traceback. */
export interface Exception {
  /** The type, with its module if that is known: `requests.exceptions.ConnectionError`, `ValueError`. */
  type: string;
  text: string;
  files: string[];
  /** The line that raised it, in the node's code or in a library. */
  line: string;
  /**
   * How this exception followed the previous one. `cause`: the code raised this exception `from` the previous one.
   * `context`: the code raised this exception while it handled the previous one.
   */
  after: "cause" | "context" | null;
}

const separators: Record<string, "cause" | "context"> = {
  "The above exception was the direct cause of the following exception:": "cause",
  "During handling of the above exception, another exception occurred:": "context",
};

/**
 * Parses the exceptions of a failure, the last one first. The harness writes `message` about the last exception. That
 * message is more reliable than the traceback, whose texts may contain anything.
 */
export function exceptionsOf({ message, traceback }: { message: string; traceback: string }): Exception[] {
  const parts: { lines: string[]; after: Exception["after"] }[] = [{ lines: [], after: null }];
  for (const line of traceback.split("\n")) {
    const after = separators[line];
    if (after) parts.push({ lines: [], after });
    else parts.at(-1)?.lines.push(line);
  }
  const exceptions = parts.map(({ lines, after }) => ({ ...readException(lines), after })).reverse();
  const [last] = exceptions;
  if (last?.type) return [{ ...last, ...typeAndText(message, last.type) }, ...exceptions.slice(1)];
  // A failure without an exception has a message that the code or the harness has written itself.
  return [{ type: "", text: message, files: [], line: "", after: null }];
}

function readException(lines: readonly string[]): Omit<Exception, "after"> {
  const files: string[] = [];
  let line = "";
  let end = 0;
  for (const [index, text] of lines.entries()) {
    const [, file] = /^ {2}File "(.*?)", line \d+/.exec(text) ?? [];
    if (file === undefined) continue;
    files.push(file);
    line = (lines[index + 1] ?? "").trim();
    end = index;
  }
  const said = lines.slice(end).findIndex((text) => /^[A-Za-z_][\w.]*(:|$)/.test(text));
  const lastLines = said < 0 ? "" : lines.slice(end + said).join("\n");
  const [, type = "", text = ""] = /^([\w.]+)(?:: ?([\s\S]*))?$/.exec(lastLines.trimEnd()) ?? [];
  return { type, text: text.trim(), files, line };
}

/** Prefers the type in the message, because texts in the traceback may look like a type. */
function typeAndText(message: string, type: string): Pick<Exception, "type" | "text"> {
  const [, name = "", text = ""] = /^(\w+)(?:: ([\s\S]*))?$/.exec(message) ?? [];
  if (name === "") return { type: "", text: message };
  return { type: type === name || type.endsWith(`.${name}`) ? type : name, text };
}
