import type { NovaClient, StartedExecution } from "@nova/client";
import { type ExitCode, exitCodes, InvalidWorkflow } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { exitCodeOf } from "../output/explain.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { Following, Ran, RunListener } from "./follow.ts";

/** Where a run goes on. */
export interface RunPlace extends Pick<Following, "live"> {
  /** A function makes it once the run is on its way. */
  server: NovaClient | (() => Promise<NovaClient>);
  /** Rejects when the place of the run is no more. */
  lost?: Promise<never> | undefined;
}

interface InPlace extends RunPlace {
  interrupt: Interrupt;
  json: boolean;
  /** That the run is accepted is not worth a line. */
  isQuiet?: true;
}

/** Starts a run, prints what it does, and then what became of it. `start`: null where Ctrl-C came before. */
export async function runInPlace(start: () => Promise<StartedExecution | null>, place: InPlace): Promise<ExitCode> {
  const { asWritten, renderJson } = await import("@nova/engine");
  const { noRunResult, runLines, runResult } = await import("./lines.ts");
  const { interrupt, json, lost } = place;
  const running = startAndFollow(start, place);
  const ran = await (lost ? Promise.race([running, lost]) : running);
  if (!ran) {
    const error = { class: "Cancelled", message: "interrupted before the run began" };
    print(json ? renderJson(noRunResult("cancelled", error)) : styled("yellow", error.message), json);
    return exitCodes.interrupted;
  }
  const shown = asWritten(ran);
  print(json ? renderJson(runResult(shown)) : runLines(shown).join("\n"), json);
  if (interrupt.happened) return exitCodes.interrupted;
  return ran.execution.status === "completed" ? exitCodes.completed : exitCodes.failed;
}

async function startAndFollow(
  start: () => Promise<StartedExecution | null>,
  { server, live, interrupt, json, isQuiet }: InPlace,
): Promise<Ran | null> {
  const started = await start();
  if (!started) return null;
  const { execution_id: id, status } = started;
  if (!isQuiet) printError(styled("dim", `${id} ${acceptedAs(status)}`));
  const [{ followed }, { MapProgress }, { eventLine, taskLines }] = await Promise.all([
    import("./follow.ts"),
    import("../output/map-progress.ts"),
    import("./lines.ts"),
  ]);
  // With --json stdout is for the one object; whoever has to answer reads stderr.
  const tell = json ? printError : print;
  const maps = new MapProgress((_, line) => tell(line));
  const listener: RunListener = {
    onEvent(event) {
      if (json ? event.state === "waiting" : !maps.takes("", event)) tell(eventLine(event));
    },
    onTask: (task) => tell(taskLines(task).join("\n")),
  };
  const client = typeof server === "function" ? await server() : server;
  return followed(client, id, { interrupt, listener, live }).finally(() => maps.end(""));
}

/** Whatever happens to the way there, the line before it names the run. */
function acceptedAs(status: string): string {
  return status === "queued" ? "is queued: a quota or a pause of its workflow holds it" : "is accepted";
}

/** What ends a run before it begins, by name. */
const refusals = new Set([
  ...["InvalidInput", "InvalidWorkflow", "InputsRefused", "PythonMissing"],
  ...["ApiProblem", "NotFound", "Refused", "Conflict", "ApiUnreachable"],
]);

/** With `--json` a run that never began is one JSON object too; whatever was thrown is thrown on. */
export async function tellingRefusals<T>(json: boolean, work: () => Promise<T>): Promise<T> {
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
