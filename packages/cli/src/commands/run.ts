import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { closeCloud, openCloud } from "../cloud.ts";
import { type ExitCode, exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { findingLines } from "../output/findings.ts";
import { print, printError, styled } from "../output/terminal.ts";
import { serverHere } from "../remote/server.ts";
import type { Ran, RunListener } from "../run/execute.ts";
import type { FreshOption } from "../run/fresh.ts";
import { InvalidWorkflow } from "../run/invalid.ts";
import { checkDraft, type RunOptions, type RunRequest, readDraft } from "../run/request.ts";
import type { CliCommand } from "./command.ts";

type Options = RunOptions & { json?: true; local?: true };

export const run: CliCommand = {
  declare: (command) =>
    command
      .summary("run a workflow and wait for its end")
      .argument("<folder|file>", "folder with workflow.json, or one JSON file")
      .option("--context <file.json>", "initial context, a JSON object")
      .option("--set <key=json>", "one value of the initial context (repeatable)", collect, [])
      .option("--file <key=path>", "bytes of a file under a key (repeatable)", collect, [])
      .option("--node <id>", "run this one node on the given context")
      .option(
        "--client <slug>",
        "for whom it runs: variables and credentials are that client's, on a server pinned versions and quotas too",
      )
      .option("--frozen", "ask no model: prompt nodes run locked code, or fail")
      .option("--fresh [node]", "a model writes this prompt node's code anew, or all (repeatable)", collectFresh)
      .option("--local", "on this machine, also where NOVA_URL names a server: nothing is published there")
      .option("--json", "print one JSON object"),

  async run([path = ""], options) {
    const { json, local, ...rest } = options as unknown as Options;
    const interrupt = new Interrupt();
    try {
      const draft = await readDraft(path, rest);
      const server = local ? undefined : await serverHere();
      if (server) return await runRequest(await onServer(server), await checkDraft(draft), interrupt, json === true);
      // The cloud opens while the Python of the nodes is checked.
      const opening = openCloud();
      const [request, cloud] = await Promise.allSettled([checkDraft(draft), opening]);
      if (cloud.status === "rejected") throw cloud.reason;
      try {
        if (request.status === "rejected") throw request.reason;
        return await runRequest(await inCloud(cloud.value), request.value, interrupt, json === true);
      } finally {
        // Other terminals may use the cloud that this one opened.
        await closeCloud(cloud.value, interrupt, "waiting for the runs of other terminals; Ctrl-C interrupts them");
      }
    } catch (error) {
      if (json && refusals.has(nameOf(error))) await printRefusal(error as Error);
      throw error;
    }
  },
};

/** Where it runs. */
interface RunPlace {
  execute(request: RunRequest, interrupt: Interrupt, listener: RunListener): Promise<Ran | null>;
  /** Rejects when the place is no more. */
  lost: Promise<never>;
}

async function inCloud(cloud: LocalCloud): Promise<RunPlace> {
  const { execute } = await import("../run/execute.ts");
  const lost = cloud.lost.then(ownerGone);
  return { execute: (...asked) => execute(cloud, ...asked), lost };
}

async function onServer(server: NovaClient): Promise<RunPlace> {
  const { runOnServer } = await import("../remote/run.ts");
  return { execute: (...asked) => runOnServer(server, ...asked), lost: new Promise(() => {}) };
}

async function runRequest(
  place: RunPlace,
  request: RunRequest,
  interrupt: Interrupt,
  json: boolean,
): Promise<ExitCode> {
  if (request.warnings.length > 0) printError(findingLines(request.warnings).join("\n"));
  const { renderJson } = await import("@nova/engine");
  const { eventLine, noRunResult, runLines, runResult, taskLines } = await import("../output/run.ts");
  // With --json stdout is for the one object; whoever has to answer reads stderr.
  const tell = json ? printError : print;
  const running = place.execute(request, interrupt, {
    onEvent(event) {
      if (!json || event.state === "waiting") tell(eventLine(event));
    },
    onAccepted: (id) => printError(styled("dim", `${id} is accepted`)),
    onTask: (task) => tell(taskLines(task).join("\n")),
  });
  const ran = await Promise.race([running, place.lost]);
  if (!ran) {
    const error = { class: "Cancelled", message: "interrupted before the run began" };
    print(json ? renderJson(noRunResult("cancelled", error)) : styled("yellow", error.message), json);
    return exitCodes.interrupted;
  }
  print(json ? renderJson(runResult(ran)) : runLines(ran).join("\n"), json);
  if (interrupt.happened) return exitCodes.interrupted;
  return ran.execution.status === "completed" ? exitCodes.completed : exitCodes.failed;
}

async function ownerGone(): Promise<never> {
  const { OwnerGone } = await import("@nova/local");
  throw new OwnerGone();
}

/** What ends a run before it begins, by name; the status that it then has. */
const refusals = new Map<string, "invalid" | "failed">([
  ["InvalidInput", "invalid"],
  ["InvalidWorkflow", "invalid"],
  ["InputsRefused", "invalid"],
  ["PythonMissing", "failed"],
  ["ApiProblem", "invalid"],
  ["NotFound", "invalid"],
  ["ApiUnreachable", "failed"],
]);

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

async function printRefusal(error: Error): Promise<void> {
  const { renderJson } = await import("@nova/engine");
  const { noRunResult } = await import("../output/run.ts");
  const findings = error instanceof InvalidWorkflow ? error.findings : undefined;
  const status = refusals.get(error.name) ?? "failed";
  print(renderJson(noRunResult(status, { class: error.name, message: error.message }, findings)), true);
}

/** `true` stands for every prompt node. */
function collectFresh(value: string | undefined, previous: FreshOption = []): FreshOption {
  return value === undefined || previous === true ? true : [...previous, value];
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
