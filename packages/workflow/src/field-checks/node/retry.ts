import { executorKind } from "../../authored/task.ts";
import { finding } from "../../findings/finding.ts";
import { at, didYouMean } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { isObject } from "../../json/value.ts";
import { errorAliases, maxPromptAttempts, retriedError, retriedErrors, runErrors } from "../../retry.ts";
import type { NodeType } from "../../workflow.ts";
import type { FieldCheck } from "./field-check.ts";

const runsNothing = "it runs nothing that could fail";

/** The reason why a kind of node has no `retry`, and its alternative. */
export const noRetry: Readonly<Record<Exclude<NodeType, "action" | "decision">, string>> = {
  start: runsNothing,
  end: runsNothing,
  approval: "people answer it, and an answer is final; its timeout and onError say what happens without one",
  wait: "nothing runs while it waits; its timeout and onError say what happens when nothing comes",
  map: "give it to the nodes of its body, or tolerate failed items with tolerated_failures",
  workflow: "give it to the nodes of the workflow that it runs",
};

export const checkRetry: FieldCheck = function* ({ retry, effects, executor }, { name, path }) {
  if (!isObject(retry)) return;
  const place = { name, path: at(path, "retry") };
  if (effects === true) {
    const message = `${name}: "effects": true forbids another run of started code, and retry asks for one - remove one of them; without effects the code may run again, each time with the same NOVA_IDEMPOTENCY_KEY`;
    yield finding("NOVA407", place.path, message);
  }
  const kind = executorKind(executor);
  const asksModels = kind === "prompt" || kind === "text";
  if (asksModels && typeof retry.attempts === "number" && retry.attempts > maxPromptAttempts) {
    const message = `${name}: retry.attempts of a ${kind} node must be at most ${maxPromptAttempts}, not ${retry.attempts}: each asks models up to three times`;
    yield finding("NOVA104", at(place.path, "attempts"), message);
  }
  for (const [i, entry] of Array.isArray(retry.on) ? retry.on.entries() : []) {
    if (typeof entry === "string") yield* checkEntry(entry, { name, path: at(place.path, "on", i) });
  }
};

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
    // A workflow's or library's own class may have any name, but rarely one that nearly equals another.
    if (meant === "" && (name !== last || /^[A-Z]/.test(name))) return;
    const wayOut = meant || " - name an exception's class, or one of NOVA's error classes";
    yield finding("NOVA429", path, `${node}: "${name}" in retry.on is the name of no known error${wayOut}`);
  }
}

/** Exceptions of Python and of common libraries, by their last names. */
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
