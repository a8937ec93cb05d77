import { z } from "zod";
import { defined } from "../defined.ts";
import { at, didYouMean, type Finding, finding, type WrittenPlace } from "../findings/finding.ts";
import { isObject, type Loose } from "../json/exact.ts";
import {
  errorAliases,
  longestDelaySeconds,
  maxPromptAttempts,
  maxRetryAttempts,
  type Retry,
  retriedError,
  retriedErrors,
  runErrors,
} from "../retry.ts";
import type { FieldPlace } from "./field-check.ts";
import { duration, filledText, flag, numberBetween } from "./fields.ts";
import { executorKind } from "./kind.ts";

const onError = 'must be a list such as ["requests.exceptions.ConnectionError", "HTTPError 503", "NodeTimeout"]';
const delays = {
  min: 0,
  max: longestDelaySeconds,
  error: "must be whole seconds or a text such as 2s, 1m, 12h, at most a day",
};

export const AuthoredRetry = z
  .strictObject(
    {
      attempts: numberBetween("whole", 1, maxRetryAttempts).describe(
        `Runs in all, the first included: 1 to ${maxRetryAttempts}, of a prompt node to ${maxPromptAttempts}.`,
      ),
      delay: duration(
        "Time between two runs, `2s` or seconds, at most a day, default 1 s. Less than a second counts as one.",
        delays,
      ).prefault(1),
      backoff: numberBetween("any", 1, 10)
        .describe("The factor from one delay to the next: 1 to 10, default 1.")
        .optional(),
      max_delay: duration("The limit of each delay, also with `backoff`; at most a day.", delays).optional(),
      jitter: flag(
        "Draws each delay between nothing and its length, so that many runs do not come back at once.",
      ).optional(),
      on: z
        .array(filledText("An error."), { error: onError })
        .min(1, { error: onError })
        .max(20, { error: onError })
        .describe("Errors after which it runs again. Absent: any failure of the node, but for a spent budget.")
        .optional(),
    },
    { error: 'must be an object such as { "attempts": 5, "delay": "2s" }' },
  )
  .describe(
    "Runs the node again when it fails, even if `effects` forbids that after a lost machine. See [Retry](#retry).",
  );

/** Returns the retry of a node without default values, so that a written default does not change the version. */
export function retryOf({ attempts, delay, backoff, max_delay, jitter, on }: z.output<typeof AuthoredRetry>): Retry {
  const optional = { backoff: backoff === 1 ? undefined : backoff, jitter: jitter || undefined, on };
  return defined({ attempts, delaySeconds: delay, maxDelaySeconds: max_delay, ...optional });
}

export function* checkRetry({ retry, effects, executor }: Loose, { name, path }: FieldPlace): Iterable<Finding> {
  if (!isObject(retry)) return;
  const place = { name, path: at(path, "retry") };
  if (effects === true) {
    const message = `${name}: "effects": true forbids another run of started code, and retry asks for one - remove one of them; without effects the code may run again, each time with the same NOVA_IDEMPOTENCY_KEY`;
    yield finding("NOVA407", place.path, message);
  }
  const kind = executorKind(executor);
  const asksModels = executor !== "agent" && (kind === "prompt" || kind === "text");
  if (asksModels && typeof retry.attempts === "number" && retry.attempts > maxPromptAttempts) {
    const message = `${name}: retry.attempts of a ${kind} node must be at most ${maxPromptAttempts}, not ${retry.attempts}: each asks models up to three times`;
    yield finding("NOVA104", at(place.path, "attempts"), message);
  }
  for (const [i, entry] of Array.isArray(retry.on) ? retry.on.entries() : []) {
    if (typeof entry === "string") yield* checkEntry(entry, { name, path: at(place.path, "on", i) });
  }
}

const ownNames = [...retriedErrors, ...Object.keys(errorAliases)];

function* checkEntry(entry: string, { name: node, path }: WrittenPlace) {
  const { name } = retriedError(entry);
  const last = name.split(".").at(-1) as string;
  if (Object.hasOwn(runErrors, name) && !ownNames.includes(name) && name !== "SandboxUnavailable") {
    const message = `${node}: ${name} ends a node for good, and retry.on cannot name it - the classes are ${retriedErrors.join(", ")}`;
    yield finding("NOVA104", path, message);
  } else if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name)) {
    const message = `${node}: "${entry}" in retry.on must begin with the name of an error, such as "HTTPError 503" or "NodeTimeout"`;
    yield finding("NOVA104", path, message);
  } else if (!knownErrors.includes(last) && !ownNames.includes(name)) {
    const meant = didYouMean(last, name === last ? [...ownNames, ...knownErrors] : knownErrors);
    // An unknown class may be the workflow's own or a library's. It is reported only if its name nearly equals a known
    // one, or does not look like a class.
    if (meant === "" && (name !== last || /^[A-Z]/.test(name))) return;
    const wayOut = meant || " - name an exception's class, or one of NOVA's error classes";
    yield finding("NOVA429", path, `${node}: "${name}" in retry.on is the name of no known error${wayOut}`);
  }
}

/** Names of exceptions of Python and of common libraries, without their modules. */
const knownErrors = `
BaseException Exception ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError
ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError EOFError
FileExistsError FileNotFoundError FloatingPointError ImportError IndentationError IndexError InterruptedError
IsADirectoryError KeyError LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError
OSError OverflowError PermissionError ProcessLookupError RecursionError RuntimeError StopIteration SyntaxError
SystemError SystemExit TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
ValueError ZeroDivisionError
APIConnectionError APIError APIStatusError APITimeoutError AuthenticationError BadStatusLine ChunkedEncodingError
ClientConnectionError ClientConnectorError ClientError ConnectError ConnectTimeout ConnectTimeoutError ConnectionTimeout
CertificateError ContentDecodingError DataError DatabaseError DecodingError EndpointConnectionError HTTPError
HTTPException HTTPStatusError IncompleteRead IntegrityError InterfaceError InternalError InternalServerError
InvalidURL JSONDecodeError MaxRetryError NetworkError NewConnectionError NotFoundError OperationalError PoolTimeout
ProgrammingError ProtocolError ProxyError RateLimitError ReadError ReadTimeout ReadTimeoutError RemoteDisconnected
RemoteProtocolError RequestError RequestException SMTPAuthenticationError SMTPConnectError SMTPDataError SMTPException
SMTPRecipientsRefused SMTPResponseException SMTPSenderRefused SMTPServerDisconnected SSLError ServerDisconnectedError
Timeout TimeoutException TooManyRedirects TransportError URLError UnsupportedProtocol WriteError WriteTimeout
abort error error_perm error_proto error_reply error_temp gaierror herror readonly timeout
`
  .trim()
  .split(/\s+/);
