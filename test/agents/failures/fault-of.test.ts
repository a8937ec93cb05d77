import { describe, expect, it } from "vitest";
import {
  exceptionsOf,
  faultOf,
  findUnreachableHost,
  hostsInCode,
  hostsInMessage,
} from "../../../packages/agents/src/failures/fault-of.ts";

const known = ["mail.acme.example", "api.acme.example", "db.acme.example"];
const surroundings = { names: async (host: string) => known.includes(host), has: (key: string) => key === "smtp_host" };

/**
 * Builds a failure as the harness reports it. The traceback contains `type` with its module, such as
 * `requests.exceptions.Timeout`. The message contains only the name of the class.
 */
function raised(type: string, text: string, files: string[] = []) {
  const frames = ["nodes/work.py", ...files].map((file) => `  File "${file}", line 3, in work\n    call()`);
  const traceback = ["Traceback (most recent call last):", ...frames, `${type}: ${text}`].join("\n");
  return { message: `${type.split(".").at(-1)}: ${text}`, traceback: `${traceback}\n` };
}

const open = 'host = context["smtp_host"]';
const signedIn = 'client.login(context["user"], context["password"])';
const getUrl = (host: string) =>
  `HTTPSConnectionPool(host='${host}', port=443): Max retries exceeded with url: / (Caused by NewConnectionError('...: [Errno 111] Connection refused'))`;

describe("a failure of an external service", () => {
  it.each<[string, string, string?, string[]?]>([
    ["ConnectionRefusedError", "[Errno 111] Connection refused"],
    ["ConnectionResetError", "[Errno 104] Connection reset by peer"],
    ["socket.gaierror", "[Errno -2] Name or service not known"],
    ["socket.gaierror", "[Errno -3] Temporary failure in name resolution"],
    ["OSError", "[Errno 101] Network is unreachable"],
    ["OSError", "[Errno 113] No route to host"],
    ["TimeoutError", "timed out", open, ["/usr/lib/python3.11/smtplib.py", "/usr/lib/python3.11/socket.py"]],
    ["TimeoutError", "[Errno 110] Connection timed out"],
    ["TimeoutError", "The read operation timed out"],
    [
      "ssl.SSLCertVerificationError",
      "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired",
    ],
    ["ssl.SSLError", "[SSL: TLSV1_ALERT_PROTOCOL_VERSION] tlsv1 alert protocol version"],
    ["ssl.SSLEOFError", "EOF occurred in violation of protocol (_ssl.c:1002)"],
    ["imaplib.IMAP4.error", "b'[AUTHENTICATIONFAILED] Invalid credentials (Failure)'", signedIn],
    ["imaplib.IMAP4.error", "LOGIN failed", signedIn],
    ["imaplib.IMAP4.abort", "socket error: EOF"],
    ["smtplib.SMTPAuthenticationError", "(535, b'5.7.8 Username and Password not accepted')", signedIn],
    ["smtplib.SMTPConnectError", "(421, b'too busy')"],
    ["smtplib.SMTPServerDisconnected", "Connection unexpectedly closed"],
    ["smtplib.SMTPDataError", "(451, b'try again later')"],
    ["poplib.error_proto", "b'-ERR [AUTH] login failed'", signedIn],
    ["ftplib.error_perm", "530 Login incorrect.", signedIn],
    [
      "psycopg.OperationalError",
      'connection failed: connection to server at "db.acme.example", port 5432 failed: Connection refused',
    ],
    [
      "psycopg.OperationalError",
      'FATAL:  password authentication failed for user "nova"',
      'connect(password=context["p"])',
    ],
    ["psycopg.OperationalError", "consuming input failed: server closed the connection unexpectedly"],
    [
      "psycopg2.OperationalError",
      'could not translate host name "db.acme.example" to address: Name or service not known',
    ],
    ["psycopg.errors.TooManyConnections", "sorry, too many clients already"],
    ["requests.exceptions.ConnectionError", getUrl("api.acme.example")],
    [
      "requests.exceptions.ReadTimeout",
      "HTTPSConnectionPool(host='api.acme.example', port=443): Read timed out. (read timeout=5)",
    ],
    [
      "requests.exceptions.SSLError",
      "HTTPSConnectionPool(host='api.acme.example', port=443): CERTIFICATE_VERIFY_FAILED",
    ],
    ["requests.exceptions.HTTPError", "503 Server Error: Service Unavailable for url: https://api.acme.example/v1"],
    ["requests.exceptions.HTTPError", "429 Client Error: Too Many Requests for url: https://api.acme.example/v1"],
    [
      "requests.exceptions.HTTPError",
      "401 Client Error: Unauthorized for url: https://api.acme.example/v1",
      "get(url, auth=(u, p))",
    ],
    [
      "requests.exceptions.HTTPError",
      "403 Client Error: Forbidden for url: https://api.acme.example/",
      'h["Authorization"] = t',
    ],
    ["urllib.error.URLError", "<urlopen error [Errno 111] Connection refused>"],
    ["urllib.error.HTTPError", "HTTP Error 502: Bad Gateway"],
    ["http.client.RemoteDisconnected", "Remote end closed connection without response"],
    ["httpx.ConnectError", "[Errno -2] Name or service not known"],
    ["httpx.HTTPStatusError", "Server error '500 Internal Server Error' for url 'https://api.acme.example/v1'"],
    ["aiohttp.client_exceptions.ClientConnectorError", "Cannot connect to host api.acme.example:443"],
    ["OSError", "[Errno 111] Connect call failed ('127.64.0.1', 993)"],
    ["paramiko.ssh_exception.AuthenticationException", "Authentication failed.", signedIn],
    ["RuntimeError", "the service answered HTTP 503"],
    ["ValueError", "API returned status 500"],
    ["nova_harness.supply.Unavailable", 'the value of "pdf" cannot be loaded: it arrived damaged again and again'],
  ])("is recognised from the exception %s: %s", async (type, text, code = open, files = []) => {
    expect(await faultOf({ ...raised(type, text, files), code }, surroundings)).toBe("world");
  });

  it.each([
    "[Errno 111] Connection refused",
    "could not read the mailbox: [AUTHENTICATIONFAILED] Invalid credentials",
    "503 Server Error: Service Unavailable for url: https://api.acme.example/v1",
  ])("is recognised from a message that the code prints itself: %s", async (message) => {
    expect(await faultOf({ message, traceback: "", code: signedIn }, surroundings)).toBe("world");
  });
});

describe("a fault of the code itself", () => {
  it.each<[string, string, string?, string[]?]>([
    ["NameError", "name 'email_user' is not defined"],
    ["KeyError", "'Connection refused'"],
    ["TypeError", "HTTP 503"],
    ["ValueError", "timed out parsing the date"],
    ["json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"],
    ["FileNotFoundError", "[Errno 2] No such file or directory: '/tmp/invoice.pdf'"],
    ["TimeoutError", "", open, ["/usr/lib/python3.11/asyncio/tasks.py"]],
    ["subprocess.TimeoutExpired", "Command 'sleep' timed out after 5 seconds"],
    ["ssl.SSLError", "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1002)"],
    [
      "requests.exceptions.SSLError",
      "HTTPSConnectionPool(host='api.acme.example', port=80): [SSL: WRONG_VERSION_NUMBER]",
    ],
    ["requests.exceptions.MissingSchema", "Invalid URL 'api': No scheme supplied."],
    ["requests.exceptions.HTTPError", "404 Client Error: Not Found for url: https://api.acme.example/v2"],
    ["requests.exceptions.HTTPError", "400 Client Error: Bad Request for url: https://api.acme.example/v1"],
    [
      "requests.exceptions.HTTPError",
      "401 Client Error: Unauthorized for url: https://api.acme.example/",
      "requests.get(url)",
    ],
    ["requests.exceptions.ConnectionError", getUrl("api.invented.example")],
    ["requests.exceptions.ConnectionError", getUrl("none")],
    ["requests.exceptions.HTTPError", "503 Server Error: Service Unavailable for url: https://api.invented.example/"],
    ["ConnectionRefusedError", "[Errno 111] Connection refused", 'smtplib.SMTP("localhost", 25)'],
    ["ConnectionRefusedError", "[Errno 111] Connection refused", 'host = context.get("mail_server", "smtp.gmail.com")'],
    ["socket.gaierror", "[Errno -2] Name or service not known", 'imaplib.IMAP4_SSL("imap.invented.example")'],
    [
      "urllib.error.URLError",
      "<urlopen error [Errno -2] Name or service not known>",
      'urlopen("https://rates.example/eur")',
    ],
    [
      "psycopg.OperationalError",
      'connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
    ],
    [
      "psycopg.OperationalError",
      'connection to server on socket "/run/.s.PGSQL.5432" failed: No such file or directory',
    ],
    ["OSError", "[Errno 111] Connect call failed ('10.0.0.9', 25)", 'connect(("10.0.0.9", 25))'],
    ["psycopg.errors.UndefinedTable", 'relation "invoice" does not exist'],
    ["imaplib.IMAP4.error", "command SEARCH illegal in state AUTH, only allowed in states SELECTED"],
    ["smtplib.SMTPServerDisconnected", "please run connect() first"],
    ["smtplib.SMTPNotSupportedError", "SMTP AUTH extension not supported by server."],
    ["smtplib.SMTPRecipientsRefused", "{'x@acme.example': (550, b'no such user')}"],
  ])("is recognised from the exception %s: %s", async (type, text, code = open, files = []) => {
    expect(await faultOf({ ...raised(type, text, files), code }, surroundings)).toBe("code");
  });

  it("is recognised from an error message of the code that names no exception", async () => {
    expect(await faultOf({ message: "no invoice number found", traceback: "", code: open }, surroundings)).toBe("code");
  });
});

describe("a failed connection", () => {
  it.each([
    [
      "to a host that is the default for a key that the context has",
      'host = context.get("smtp_host", "smtp.gmail.com")',
    ],
    ["in code that names another host only in a comment", `${open}\n# see https://docs.invented.example/smtp`],
    ["in code with an XML namespace that looks like a URL", `${open}\nns = "http://www.w3.org/2000/svg"`],
    ["to a host that the prompt of the node names", 'smtplib.SMTP("mail.acme.example", 587)'],
    ["to a host in a URL that the code builds from the context", "url = f\"https://{context['domain']}/api\""],
  ])("counts as a failure of the service, and not as a fault of the code, if it is %s", async (_, code) => {
    const refused = raised("ConnectionRefusedError", "[Errno 111] Connection refused");
    expect(await faultOf({ ...refused, code }, surroundings)).toBe("world");
  });
});

describe("a chain of Python exceptions", () => {
  const refused = "ConnectionRefusedError: [Errno 111] Connection refused";
  const chain = (border: string, line: string, last: string) =>
    `Traceback (most recent call last):\n  File "nodes/work.py", line 2, in <module>\n    connect()\n${refused}\n\n${border}\n\n` +
    `Traceback (most recent call last):\n  File "nodes/work.py", line 4, in <module>\n    ${line}\n${last}\n`;
  const cause = "The above exception was the direct cause of the following exception:";
  const context = "During handling of the above exception, another exception occurred:";

  it.each([
    [
      "raised from the failure of a service",
      cause,
      'raise RuntimeError("no mail") from error',
      "RuntimeError: no mail",
      "world",
    ],
    [
      "raised while the failure of a service was handled",
      context,
      'raise RuntimeError("no mail")',
      "RuntimeError: no mail",
      "world",
    ],
    [
      "a mistake while the failure of a service was handled",
      context,
      "log.eror(error)",
      "AttributeError: no attribute 'eror'",
      "code",
    ],
  ])(
    "counts as a failure of an external service unless its last exception is a mistake of the code: %s",
    async (_, border, line, last, expected) => {
      const failed = { message: last, traceback: chain(border, line, last), code: open };
      expect(await faultOf(failed, surroundings)).toBe(expected);
    },
  );

  it("is judged by the message of the harness, not by a text of an exception that looks like a traceback", async () => {
    const text = `bad\n\n${context}\n\nTraceback (most recent call last):\n${refused}`;
    const failed = {
      message: `KeyError: ${text}`,
      traceback: `Traceback (most recent call last):\nKeyError: ${text}\n`,
    };
    expect(await faultOf({ ...failed, code: open }, surroundings)).toBe("code");
  });
});

describe("hostsInMessage", () => {
  it.each([
    ["HTTPSConnectionPool(host='api.example', port=443): Max retries", ["api.example"]],
    ["503 Server Error: x for url: https://user:pw@API.example:8443/v1?host=no", ["api.example"]],
    ['connection to server at "db.example" (10.0.0.1), port 5432 failed', ["db.example"]],
    ['could not translate host name "db.example" to address', ["db.example"]],
    ["Failed to resolve 'api.example' ([Errno -2])", ["api.example"]],
    ["[Errno 111] Connect call failed ('10.0.0.1', 5432)", ["10.0.0.1"]],
    ["[Errno 111] Connection refused", []],
  ])("finds the hosts in the error message: %s", (text, hosts) => {
    expect(hostsInMessage(text)).toEqual(hosts);
  });
});

describe("hostsInCode", () => {
  it.each([
    ['requests.get("https://api.example/v1")', ["api.example"]],
    ['imaplib.IMAP4_SSL("imap.example", 993)', ["imap.example"]],
    ['socket.create_connection(("smtp.example", 25))', ["smtp.example"]],
    ['smtp_server = "smtp.example"', ["smtp.example"]],
    ['psycopg.connect("host=db.example dbname=x")', ["db.example"]],
    ['psycopg.connect("postgresql://u:p@db.example:5432/x")', ["db.example"]],
    ['context.get("imap_host", "imap.example")', ["imap.example"]],
    ['context.get("known_host", "imap.example")', []],
    ['context.get("api_url", "https://api.example/v1")', ["api.example"]],
    ['open("invoice.pdf"); context["email.subject"]', []],
    ['requests.get(context["url"])', []],
    ['url = f"https://{host}/v1"', []],
    ["# https://docs.example/\nx = 1", []],
    ['ns = "http://www.w3.org/2000/svg"', []],
  ])("finds the hosts in the code: %s", (code, hosts) => {
    expect(hostsInCode(code, (key) => key === "known_host")).toEqual(hosts);
  });
});

const refused = "imap.example.com:993 cannot be reached: Connection refused";

it.each([
  [`hello\n[network] ${refused}\n`, refused],
  [`[network] a.example:80 cannot be reached: Name or service not known\n[network] ${refused}`, refused],
  [`the code says: [network] ${refused}`, ""],
  ["[network] something else\n", ""],
  ["", ""],
])("findUnreachableHost finds in the log %j the network error %j", (logs, reason) => {
  expect(findUnreachableHost(logs)).toBe(reason);
});

const traceback = `Traceback (most recent call last):
  File "nodes/work.py", line 2, in <module>
    connect()
  File "/usr/lib/python3.11/socket.py", line 10, in connect
    raise err
    ^^^^^^^^^
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "nodes/work.py", line 4, in <module>
    raise errors.NoMail("no mail") from error
acme.errors.NoMail: no mail
for Acme
`;

describe("exceptionsOf", () => {
  it("returns the exceptions of a chained Python traceback, the last one first", () => {
    expect(exceptionsOf({ message: "NoMail: no mail\nfor Acme", traceback })).toEqual([
      {
        type: "acme.errors.NoMail",
        text: "no mail\nfor Acme",
        files: ["nodes/work.py"],
        line: 'raise errors.NoMail("no mail") from error',
        after: "cause",
      },
      {
        type: "ConnectionRefusedError",
        text: "[Errno 111] Connection refused",
        files: ["nodes/work.py", "/usr/lib/python3.11/socket.py"],
        line: "raise err",
        after: null,
      },
    ]);
  });

  it("returns an error message that names no exception as a text without a type", () => {
    expect(exceptionsOf({ message: "no invoice found", traceback: "" })).toEqual([
      { type: "", text: "no invoice found", files: [], line: "", after: null },
    ]);
  });

  it("takes the last exception from the error message of the harness if the traceback names another one", () => {
    const [last] = exceptionsOf({
      message: "KeyError: 'x'",
      traceback: "Traceback (most recent call last):\nOSError: no\n",
    });
    expect(last).toMatchObject({ type: "KeyError", text: "'x'" });
  });

  it("parses an exception that has no text", () => {
    const [last] = exceptionsOf({
      message: "TimeoutError",
      traceback: "Traceback (most recent call last):\nTimeoutError\n",
    });
    expect(last).toMatchObject({ type: "TimeoutError", text: "" });
  });
});
