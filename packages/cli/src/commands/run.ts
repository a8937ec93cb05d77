import type { NovaClient, StartedExecution } from "@nova/client";
import { asWritten, renderJson } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { defined } from "@nova/workflow/defined";
import { askCloud, connectServer, openClient, throwOwnerGone } from "../api/ask.ts";
import { closeCloud, openCloud, othersRunsHint } from "../cloud.ts";
import { type ExitCode, exitCodes, InvalidWorkflow } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { exitCodeOf } from "../output/explain.ts";
import { print, printError, styled } from "../output/terminal.ts";
import { findingLines } from "../output/text.ts";
import type { EndedRun, Following, RunListener } from "../run/follow.ts";
import { followRun } from "../run/follow.ts";
import { eventLine, MapProgress, noRunResult, runLines, runResult, taskLines } from "../run/lines.ts";
import { checkDraft, type RunRequest, readDraft, readInputs } from "../run/request.ts";
import { publishAndStart, startHere, startPublished } from "../run/start.ts";
import { command } from "./command.ts";
import { readVersion } from "./versions.ts";

const inputs = {
  "--context <file.json>": "initial context, a JSON object",
  "--set <key=json>": { says: "one value of the initial context (repeatable)", each: true },
  "--file <key=path>": { says: "bytes of a file under a key (repeatable)", each: true },
  "--client <slug>":
    "run for this client: with its variables and credentials, on a server also its pinned versions and quotas",
  "--frozen": "no model writes code: prompt nodes run locked code, or fail",
  "--reuse <execution>": "reuse outcomes of this execution's nodes, if their definitions and inputs are the same",
} as const;

export const run = command({
  summary: "run a workflow and wait for its end",
  takes: {
    "<folder|file>": "folder with workflow.json or workflow.ts, or one such file",
    ...inputs,
    "--node <id>": "run only this node on the context",
    "--fresh [node]": {
      says: "have a model write the code of this prompt node, or of all, again (repeatable)",
      each: true,
    },
    "--local": "run on this machine, even if NOVA_URL names a server",
  },
  async run([path = ""], { json = false, local, ...options }) {
    const interrupt = new Interrupt();
    return reportRefusals(json, async () => {
      const draft = await readDraft(path, options);
      const server = local ? undefined : await connectServer();
      if (server) {
        const request = await checkDraft(draft);
        tellWarnings(request);
        return runInPlace(() => publishAndStart(server, request, interrupt), { server, interrupt, json });
      }
      // The command offers to install missing packages before the cloud opens, so that the sandboxes of the cloud have
      // them.
      const { offerPackages } = await import("../packages.ts");
      const { noTerminal } = await import("../output/terminal.ts");
      const lacking = await offerPackages([draft.parsed, ...draft.called.parsed], json ? noTerminal : undefined);
      // The command does not await the check of the nodes' Python here, because the cloud can open at the same time.
      const checking = checkDraft(draft, lacking);
      checking.catch(() => undefined);
      return inCloud(interrupt, async (cloud, lost) => {
        const request = await checking;
        tellWarnings(request);
        const start = () => startHere(cloud, request, interrupt);
        // `server` is a function, so that the REST API is loaded while the run starts.
        const place = { server: () => openClient(cloud), live: cloud, lost, isQuiet: true } as const;
        return runInPlace(start, { ...place, interrupt, json });
      });
    });
  },
});

/**
 * Opens the cloud for `work`, and closes it when no terminal uses it any more. `lost` rejects if the process that owns
 * the cloud ends.
 */
async function inCloud<T>(
  interrupt: Interrupt,
  work: (cloud: LocalCloud, lost: Promise<never>) => Promise<T>,
): Promise<T> {
  const cloud = await openCloud();
  const lost = cloud.lost.then(throwOwnerGone);
  lost.catch(() => undefined); // If `work` does not await `lost`, its rejection must not end the process.
  try {
    return await work(cloud, lost);
  } finally {
    await closeCloud(cloud, interrupt, othersRunsHint);
  }
}

function tellWarnings({ warnings }: RunRequest): void {
  if (warnings.length > 0) printError(findingLines(warnings).join("\n"));
}

export const start = command({
  summary: "run a published workflow and wait for its end",
  takes: {
    "<workflow>": "its id",
    ...inputs,
    "--of <version>": "absent: the active version, or the one pinned for the client",
    "--fresh <node>": { says: "have a model write the code of this prompt node again (repeatable)", each: true },
    "--no-wait": "print the id of the run and do not wait",
  },
  async run([workflow = ""], { json = false, wait, of, fresh, frozen = false, client, reuse, ...files }) {
    const interrupt = new Interrupt();
    return reportRefusals(json, async () => {
      const version = of === undefined ? undefined : readVersion(of);
      const request = { workflow, fresh, frozen, ...(await readInputs(files)), ...defined({ client, reuse, version }) };
      return onServerOrHere(interrupt, async ({ server, ...place }) => {
        const start = () => startPublished(server, request, interrupt);
        if (wait) return runInPlace(start, { server, ...place, interrupt, json });
        const started = await start();
        if (!started) return exitCodes.interrupted;
        const { execution_id, status } = started;
        return { json: { execution_id, workflow, status }, text: execution_id };
      });
    });
  },
});

/**
 * Calls `work` with the server in `NOVA_URL`, or else with this machine's cloud, which stays open until `work` is done.
 */
export async function onServerOrHere<T>(
  interrupt: Interrupt,
  work: (place: RunPlace & { server: NovaClient }) => Promise<T>,
): Promise<T> {
  const server = await connectServer();
  if (server) return work({ server });
  return inCloud(interrupt, (cloud, lost) => askCloud(cloud, (api) => work({ server: api, live: cloud, lost })));
}

export interface RunPlace extends Pick<Following, "live"> {
  /** The client of the server, or a function that creates it and is called only after the run has started. */
  server: NovaClient | (() => Promise<NovaClient>);
  /** Rejects if the process that owns the cloud of the run ends. */
  lost?: Promise<never> | undefined;
}

interface InPlace extends RunPlace {
  interrupt: Interrupt;
  json: boolean;
  isQuiet?: true;
}

/**
 * Starts a run, and prints its events and its result. `start` returns null if the user pressed Ctrl-C before the run
 * started.
 */
export async function runInPlace(start: () => Promise<StartedExecution | null>, place: InPlace): Promise<ExitCode> {
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
  return ran.status === "completed" ? exitCodes.completed : exitCodes.failed;
}

async function startAndFollow(
  start: () => Promise<StartedExecution | null>,
  { server, live, interrupt, json, isQuiet }: InPlace,
): Promise<EndedRun | null> {
  const started = await start();
  if (!started) return null;
  const { execution_id: id, status } = started;
  if (!isQuiet) printError(styled("dim", `${id} ${acceptedText(status)}`));
  // With `--json`, stdout may contain only the result as one JSON object, so the command prints events to stderr.
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

/**
 * Returns the line that is printed at the start of a run. The line contains the id of the run, which the user needs if
 * the connection breaks later.
 */
function acceptedText(status: string): string {
  return status === "queued" ? "is queued: a quota or a pause of its workflow holds it" : "is accepted";
}

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
  "LocalCloudError",
  "DynamoDbFolderError",
]);

/**
 * Calls `work`, which starts a run. With `--json`, prints one JSON object even if the run does not start. Throws the
 * error of `work` again.
 */
export async function reportRefusals<T>(json: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (json && error instanceof Error && refusals.has(error.name)) {
      const findings = error instanceof InvalidWorkflow ? error.findings : undefined;
      const status = exitCodeOf(error) === exitCodes.invalid ? "invalid" : "failed";
      print(renderJson(noRunResult(status, { class: error.name, message: error.message }, findings)), true);
    }
    throw error;
  }
}
