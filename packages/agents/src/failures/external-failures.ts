/** A failure outside the code. `login` counts only if the code uses credentials. */
export type ExternalFailure = "connection" | "login" | "server";

interface Rule {
  type: RegExp;
  /** Absent if any text matches. */
  text?: RegExp;
  unless?: RegExp;
  is: ExternalFailure;
}

/** Texts of errors about broken, refused or missing connections, independent of their type. */
const connectionLost =
  /connection (refused|reset|aborted|timed out|unexpectedly closed)|\[errno (101|104|110|111|113|-[235])\]|name or service not known|temporary failure in name resolution|no address associated|name does not resolve|getaddrinfo failed|could not (translate host name|resolve host)|failed to resolve|network is unreachable|no route to host|certificate[ _]verify[ _]failed|certificate has expired|remote end closed connection|server closed the connection|handshake (operation )?timed out|(connect|read|operation|request|response|socket)\w* timed out|(connection|connect|read) ?timeout|timeout expired/i;

/** Texts of errors about TLS with a port without TLS, or the reverse, which are mistakes of the code. */
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

/** Files of libraries that use the network. */
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

/** Types that Python raises for mistakes, independent of their text. */
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

/** 429 and 408 are temporary. Some servers answer 403 to a wrong password. */
function failureOfStatus(status: number): ExternalFailure | undefined {
  if (status >= 500 || status === 429 || status === 408) return "server";
  return status === 401 || status === 403 || status === 407 ? "login" : undefined;
}

/** An exception, parsed from Python's traceback. */
export interface Exception {
  /** With its module if it is known: `requests.exceptions.ConnectionError`, `ValueError`. */
  type: string;
  text: string;
  /** Files of the frames, outermost first. */
  files: string[];
  /** The line that raised it, in the node's code or in a library. */
  line: string;
  /** Its relation to the previous exception: raised `from` it, or while handling it. */
  after: "cause" | "context" | null;
}

const separators: Record<string, "cause" | "context"> = {
  "The above exception was the direct cause of the following exception:": "cause",
  "During handling of the above exception, another exception occurred:": "context",
};

/**
 * Parses the exceptions of a failure, the last one first. The harness writes `message` about the last one. It is more
 * reliable than the traceback, whose texts may contain anything.
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
  // Without an exception, the message comes from the code or the harness.
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

/** Prefers the type in the message to the one in the traceback, whose texts may look like a type. */
function typeAndText(message: string, type: string): Pick<Exception, "type" | "text"> {
  const [, name = "", text = ""] = /^(\w+)(?:: ([\s\S]*))?$/.exec(message) ?? [];
  if (name === "") return { type: "", text: message };
  return { type: type === name || type.endsWith(`.${name}`) ? type : name, text };
}
