import type { NovaClient, StartedExecution } from "@nova/client";
import { type ExitCode, exitCodes, InvalidWorkflow } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { exitCodeOf } from "../output/explain.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { EndedRun, Following, RunListener } from "./follow.ts";

/** The server or cloud in which a run is. */
export interface RunPlace extends Pick<Following, "live"> {
  /** A function creates the client after the run has started. */
  server: NovaClient | (() => Promise<NovaClient>);
  /** Rejects if the cloud of the run disappears. */
  lost?: Promise<never> | undefined;
}

interface InPlace extends RunPlace {
  interrupt: Interrupt;
  json: boolean;
  /** Omits the line that the run is accepted. */
  isQuiet?: true;
}

/** Starts a run, and prints its events and its result. `start` returns null if the user pressed Ctrl-C before. */
export async function runInPlace(start: () => Promise<StartedExecution | null>, place: InPlace): Promise<ExitCode> {
  const { asWritten, renderJson } = await import("@nova/engine");
  const { noRunResult, runLines, runResult } = await import("./lines.ts");
  const { interrupt, json, lost } = place;
  const running = startAndFollow(start, place);
  const ran = await (lost ? Promise.race([running, lost]) : running);
  if (!ran) {
    const error = { class: "Cancelled", message: "interrupted before the run started" };
    print(json ? renderJson(noRunResult("cancelled", error)) : styled("yellow", error.message), json);
    return exitCodes.interrupted;
  }
  const shown = asWritten(ran);
  print(json ? renderJson(runResult(shown)) : runLines(shown).join("\n"), json);
  if (interrupt.wasRequested) return exitCodes.interrupted;
  return ran.execution.status === "completed" ? exitCodes.completed : exitCodes.failed;
}

async function startAndFollow(
  start: () => Promise<StartedExecution | null>,
  { server, live, interrupt, json, isQuiet }: InPlace,
): Promise<EndedRun | null> {
  const started = await start();
  if (!started) return null;
  const { execution_id: id, status } = started;
  if (!isQuiet) printError(styled("dim", `${id} ${acceptedText(status)}`));
  const [{ followRun }, { MapProgress }, { eventLine, taskLines }] = await Promise.all([
    import("./follow.ts"),
    import("../output/map-progress.ts"),
    import("./lines.ts"),
  ]);
  // With --json stdout has only the one object, so events go to stderr.
  const tell = json ? printError : print;
  const maps = new MapProgress((_, line) => tell(line));
  const listener: RunListener = {
    onEvent(event) {
      if (json ? event.state === "waiting" : !maps.absorb("", event)) tell(eventLine(event));
    },
    onTask: (task) => tell(taskLines(task).join("\n")),
  };
  const client = typeof server === "function" ? await server() : server;
  return followRun(client, id, { interrupt, listener, live }).finally(() => maps.end(""));
}

/** This line names the run even if the connection breaks later. */
function acceptedText(status: string): string {
  return status === "queued" ? "is queued: a quota or a pause of its workflow holds it" : "is accepted";
}

/** Errors that prevent the start of a run, by name. */
const refusals = new Set([
  "InvalidInput",
  "InvalidWorkflow",
  "InputsRefused",
  "PythonMissing",
  "ApiProblem",
  "NotFound",
  "Refused",
  "Conflict",
  "ApiUnreachable",
]);

/** With `--json`, prints one JSON object also for a run that did not start. The error is thrown again. */
export async function reportRefusals<T>(json: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (json && error instanceof Error && refusals.has(error.name)) {
      const [{ renderJson }, { noRunResult }] = await Promise.all([import("@nova/engine"), import("./lines.ts")]);
      const findings = error instanceof InvalidWorkflow ? error.findings : undefined;
      const status = exitCodeOf(error) === exitCodes.invalid ? "invalid" : "failed";
      print(renderJson(noRunResult(status, { class: error.name, message: error.message }, findings)), true);
    }
    throw error;
  }
}
