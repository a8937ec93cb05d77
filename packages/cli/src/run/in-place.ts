import { type ExitCode, exitCodes, InvalidWorkflow } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { exitCodeOf } from "../output/explain.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { Ran, RunListener } from "./execute.ts";

interface InPlace {
  interrupt: Interrupt;
  json: boolean;
  /** Rejects when the place of the run is no more. */
  lost?: Promise<never> | undefined;
}

/** Runs it and prints what it does, and then what became of it. `execute`: null where Ctrl-C came before the start. */
export async function runInPlace(
  execute: (listener: RunListener) => Promise<Ran | null>,
  { interrupt, json, lost }: InPlace,
): Promise<ExitCode> {
  const { asWritten, renderJson } = await import("@nova/engine");
  const { MapProgress } = await import("../output/map-progress.ts");
  const { eventLine, noRunResult, runLines, runResult, taskLines } = await import("./lines.ts");
  // With --json stdout is for the one object; whoever has to answer reads stderr.
  const tell = json ? printError : print;
  const maps = new MapProgress((_, line) => tell(line));
  const running = execute({
    onEvent(event) {
      if (json ? event.state === "waiting" : !maps.takes("", event)) tell(eventLine(event));
    },
    onAccepted(id, status) {
      const news = status === "queued" ? "is queued: a quota or a pause of its workflow holds it" : "is accepted";
      printError(styled("dim", `${id} ${news}`));
    },
    onTask: (task) => tell(taskLines(task).join("\n")),
  });
  const ran = await Promise.race(lost ? [running, lost] : [running]).finally(() => maps.end(""));
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
