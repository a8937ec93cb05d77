import { type ExitCode, exitCodes } from "../errors.ts";
import { printError } from "./terminal.ts";

/**
 * The exit codes of expected errors, whose messages are sentences for the user. The keys are names of errors and not
 * their classes, so that this file need not load the packages that define the errors.
 */
const explained: Record<string, ExitCode> = {
  InvalidInput: exitCodes.invalid,
  InvalidWorkflow: exitCodes.invalid,
  WorkflowSourceError: exitCodes.invalid,
  InputsRefused: exitCodes.invalid,
  ExecutionNotFound: exitCodes.invalid,
  ApiProblem: exitCodes.invalid,
  NotFound: exitCodes.invalid,
  Refused: exitCodes.invalid,
  Conflict: exitCodes.invalid,
  ApiUnreachable: exitCodes.failed,
  Interrupted: exitCodes.interrupted,
  UnknownWorkflow: exitCodes.failed,
  LocalCloudError: exitCodes.failed,
  PythonMissing: exitCodes.failed,
  ProofInterrupted: exitCodes.failed,
  OwnerGone: exitCodes.failed,
  E2bServerError: exitCodes.failed,
  DynamoDbFolderError: exitCodes.failed,
  StoreUnavailable: exitCodes.failed,
  SandboxUnavailable: exitCodes.failed,
};

/** The command for each route of the API that a sentence names, as in "GET /clients lists them". */
const commandsByRoute: Record<string, string> = {
  "GET /clients": "nova clients list",
  "GET /keys": "nova keys list",
  "GET /tasks": "nova tasks",
  "GET /schedules": "nova schedules",
  "GET /sessions": "nova session list",
  "GET /workflows": "nova versions",
  // Messages about credentials say only `GET`, because the route depends on the owner of the credentials.
  GET: "nova credentials list",
};

function nameCommand(sentence: string): string {
  return sentence
    .replace(
      /(?<= - )(GET(?: \/[a-z]+)?)(?:\/([a-z0-9-]+)\/versions)?(?= lists)/,
      (route, list: string, id?: string) => {
        const command = commandsByRoute[list];
        return command === undefined ? route : `\`${id === undefined ? command : `${command} ${id}`}\``;
      },
    )
    .replace(/POST \/uploads, and send the bytes to the address that it answers$/, "send a file with --file key=path")
    .replace(/^(there is no execution ".*") - write it as it was answered$/, "$1 - `nova executions` lists them")
    .replace(/^(there is no task ".*") - write it as it was answered$/, "$1 - `nova tasks` lists those that wait");
}

/**
 * Returns the exit code of an expected error, and undefined for any other error. A server error (5xx) gets the code of
 * a failure, not of invalid input, because the command may succeed later with the same input.
 */
export function exitCodeOf(error: Error): ExitCode | undefined {
  const isServersFault = error.name === "ApiProblem" && "status" in error && Number(error.status) >= 500;
  return isServersFault ? exitCodes.failed : explained[error.name];
}

/** Returns one sentence for an error, with the exit code. `NOVA_DEBUG=1` adds the stack trace. */
export function explain(error: unknown): { sentence: string; code: ExitCode } {
  if (!(error instanceof Error)) return { sentence: String(error), code: exitCodes.failed };
  if (process.env.NOVA_DEBUG) printError(String(error.stack));
  const code = exitCodeOf(error);
  if (code !== undefined) {
    return { sentence: nameCommand(error.message), code };
  }
  const [firstLine = ""] = error.message.split("\n");
  const sentence = `${error.name}: ${firstLine} - NOVA_DEBUG=1 shows where this came from`;
  return { sentence, code: exitCodes.failed };
}
