import { setTimeout as sleep } from "node:timers/promises";
import {
  type Execution,
  formatDuration,
  formatUsd,
  type NovaClient,
  type RestartForecast,
  type RestartOptions,
} from "@nova/client";
import { RawJson } from "@nova/engine";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { askApi, readCount } from "../api/ask.ts";
import { nodeOfPlace, readWorkflow } from "../api/recorded.ts";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { readContext } from "../input/context.ts";
import { Interrupt } from "../interrupt.ts";
import { type Asking, type CommandOutput, print, printError, styled, thisTerminal } from "../output/terminal.ts";
import { cell, statusText, tableLines } from "../output/text.ts";
import { command } from "./command.ts";
import { onServerOrHere, reportRefusals, runInPlace } from "./run.ts";
import { readVersion } from "./versions.ts";

const ends = ["failed", "cancelled", "interrupted", "completed"] as const;

export const restart = command({
  summary: "run an execution again from the nodes that failed or from a place, and reuse earlier outcomes",
  takes: {
    "[execution_id]": "absent: the executions that the options below select and that were not restarted before",
    "--from <place>": {
      says: "run this place and everything after it: find, poll#2, each[3], each[3].find, billing/send (repeatable)",
      each: true,
    },
    "--version <number>": "version of the workflow; absent: that of the execution",
    "--patch <file.json>": "new values for keys of the initial context, a JSON object",
    "--ask-again <node>": { says: "run this node again at every place (repeatable)", each: true },
    "--workflow <id>": "select: of this workflow",
    "--status <status>": { says: "select: with this final status", absent: "failed", choices: [...ends] },
    "--since <time>": "select: started since 2d, 12h, 30m, or a time in ISO 8601",
    "--error <class>": "select: with this error class, such as NodeTimeout",
    "--client <slug>": "select: of this client",
    "--at-once <number>": { says: "select: how many run at a time", absent: "10" },
    "--yes": "do not ask before nodes with effects run again",
    "--dry-run": "print what would be reused and what would run, and start nothing",
  },
  async run([id], { json = false, dryRun, yes = false, from, version, patch, askAgain, ...many }) {
    const interrupt = new Interrupt();
    return reportRefusals(json, async () => {
      const changes: RestartOptions = defined({
        from: from.length > 0 ? from : undefined,
        version: version === undefined ? undefined : readVersion(version),
        context_patch: patch === undefined ? undefined : await readPatch(patch),
        ask_again: askAgain.length > 0 ? askAgain : undefined,
      });
      if (id === undefined) return restartChosen(interrupt, many, { changes, json, dryRun, yes });
      if (many.workflow !== undefined)
        throw new InvalidInput("name one execution, or select many with --workflow - not both");
      if (dryRun) {
        const asked = { ...changes, dry_run: true as const };
        const forecast = await askApi(({ executions }) => executions.restart(id, asked));
        return { json: forecast, text: forecastLines(id, forecast) };
      }
      return onServerOrHere(interrupt, async (place) => {
        if (!yes && !(await confirmRestart(place.server, id, { changes, json }))) return notStarted;
        const start = async () => (interrupt.wasRequested ? null : place.server.executions.restart(id, changes));
        return runInPlace(start, { ...place, interrupt, json });
      });
    });
  },
});

const notStarted: CommandOutput = { json: { items: [] }, text: "nothing is restarted", code: exitCodes.failed };

type Selection = Record<"workflow" | "since" | "error" | "client", string | undefined> & {
  status: (typeof ends)[number];
  atOnce: string;
};

async function restartChosen(
  interrupt: Interrupt,
  { workflow, status, since, error, client, atOnce }: Selection,
  { changes, json, dryRun, yes }: { changes: RestartOptions; json: boolean; dryRun: true | undefined; yes: boolean },
): Promise<CommandOutput> {
  if (workflow === undefined)
    throw new InvalidInput("no execution is named - name one from nova executions, or select many with --workflow");
  const from = since === undefined ? undefined : readSince(since);
  const query = { ...defined({ workflow, status, from, error_class: error, client }), limit: 200 };
  const tell = json ? printError : (line: string) => print(line);
  const work = { changes, atOnce: readCount("--at-once", atOnce), interrupt, tell };
  return onServerOrHere(interrupt, async ({ server }) => {
    const chosen = await chooseSources(server, query);
    if (dryRun) return forecastMany(server, chosen, work);
    const count = chosen.sources.length;
    if (!yes && !(await confirmRestarts(server, workflow, { changes, json, count }))) return notStarted;
    return restartMany(server, chosen, work);
  });
}

async function readPatch(path: string): Promise<object> {
  return new RawJson(await readContext(path, []));
}

const maxNamed = 20;

function forecastLines(id: string, { reused, runs, again, misfits, estimate }: RestartForecast): string[] {
  const { cost_usd: usd, execution_time_ms: ms } = estimate;
  const some = (title: string, places: readonly string[], why = "") => {
    if (places.length === 0) return [];
    const more = places.length > maxNamed ? ` and ${places.length - maxNamed} more` : "";
    return `  ${styled("cyan", title)} ${places.length}${why}: ${places.slice(0, maxNamed).join(", ")}${more}`;
  };
  return [
    `a restart of ${id} would start like this; it has not started:`,
    some("reuse", reused),
    some("run", runs),
    some("run again", again, ", with effects that may happen twice"),
    `  ${styled("cyan", "cost")} about ${formatUsd(usd)} and ${formatDuration(ms)} of code, as in ${id}`,
    misfits.map((misfit) => styled("red", `  does not fit: ${misfit}`)),
  ].flat(2);
}

interface RestartRequest {
  changes: RestartOptions;
  json: boolean;
}

/**
 * Warns that nodes with effects will run again. On a terminal, asks the user whether to continue. Returns false if the
 * user answers no.
 */
export async function confirmRestart(
  server: NovaClient,
  id: string,
  { changes, json }: RestartRequest,
  asking = thisTerminal,
) {
  const { again, misfits } = await server.executions.restart(id, { ...changes, dry_run: true });
  // The user needs no warning if no node runs again, or if `misfits` gives reasons why the server will refuse the
  // restart.
  if (again.length === 0 || misfits.length > 0) return true;
  const { workflow, version } = await server.executions.get(id);
  const definition = await readWorkflow(server, workflow, changes.version ?? version);
  const places = again.filter((place) => place.includes("/") || hasEffects(definition, nodeOfPlace(place)));
  if (places.length === 0) return true;
  const what = `${joinPlaces(places)} will run again, with its effects`;
  return confirm(what, `restart ${id}`, { json, asking });
}

/**
 * Warns that many executions of a workflow will restart, and that some of these executions may reach nodes with
 * effects.
 */
export async function confirmRestarts(
  server: NovaClient,
  workflow: string,
  { changes, json, count }: RestartRequest & { count: number },
  asking = thisTerminal,
): Promise<boolean> {
  if (count === 0) return true;
  const { version } = changes;
  const { definition: latest } = await server.workflows.get(workflow, defined({ version }));
  const definition = latest as unknown as Workflow;
  const nodes = Array.from(nodeIndex(definition).keys()).filter((id) => hasEffects(definition, id));
  if (nodes.length === 0) return true;
  const what = `${joinPlaces(nodes)} may run again, with its effects`;
  return confirm(what, `restart ${count} ${count === 1 ? "execution" : "executions"}`, { json, asking });
}

async function confirm(
  what: string,
  question: string,
  { json, asking }: Pick<RestartRequest, "json"> & { asking: Asking },
) {
  if (!json && asking.isInteractive) return asking.ask(`${what} - ${question}?`, "no");
  printError(`nova: ${what}`);
  return true;
}

function hasEffects(workflow: Workflow, id: string): boolean {
  const node = nodeIndex(workflow).get(id)?.node;
  return node !== undefined && "executor" in node && node.effects === true;
}

const maxListed = 10;

function joinPlaces(places: readonly string[]): string {
  const more = places.length > maxListed ? ` and ${places.length - maxListed} more` : "";
  return places.slice(0, maxListed).join(", ") + more;
}

interface Chosen {
  /** The executions to restart, oldest first. */
  sources: Execution[];
  skipped: number;
}

type ExecutionQuery = Parameters<NovaClient["executions"]["list"]>[0];

/** Selects the executions to restart. Leaves out child executions, and executions that were already restarted. */
async function chooseSources(server: NovaClient, query: ExecutionQuery): Promise<Chosen> {
  const all = await Array.fromAsync(server.executions.list(query));
  const fitting = all.filter((one) => !one.parent);
  const sources = fitting.filter(({ restarts }) => restarts.length === 0);
  return { sources: sources.reverse(), skipped: fitting.length - sources.length };
}

interface Work {
  changes: RestartOptions;
  atOnce: number;
  interrupt: Interrupt;
  tell(line: string): void;
}

interface Done {
  execution_id: string | null;
  restarted_from: string;
  status: Execution["status"] | "refused";
  error: Execution["error"] | { message: string };
}

/**
 * Restarts executions, several at the same time. Returns when each execution has ended or waits for an answer. After
 * Ctrl-C no further execution is restarted.
 */
export async function restartMany(
  server: NovaClient,
  { sources, skipped }: Chosen,
  work: Work,
): Promise<CommandOutput> {
  const { changes, interrupt, tell } = work;
  const items: Done[] = [];
  const interrupted = interrupt.requested();
  await runEach(sources, work, async ({ execution_id: id }) => {
    const done = await catchRefusal(id, async (): Promise<Done> => {
      const { execution_id } = await server.executions.restart(id, changes);
      const { status, error } = await waitForRest(server, execution_id, interrupted);
      return { execution_id, restarted_from: id, status, error };
    });
    items.push(done);
    tell(`${bar(items.length, sources.length)} ${lineOf(done)}`);
  });
  const counts = Map.groupBy(items, ({ status }) => status);
  const told = Array.from(counts, ([status, { length }]) => `${length} ${status}`);
  const left = sources.length - items.length;
  const text = [
    sources.length === 0
      ? nothing
      : `${items.length} of ${sources.length} restarted${told.length > 0 ? `: ${told.join(", ")}` : ""}`,
    ...skippedLines(skipped),
    ...(left > 0 ? [`${left} are left: the same command continues with them`] : []),
  ];
  const isFine = items.every(({ status }) => ["completed", "waiting", "queued", "running"].includes(status));
  const code: ExitCode = interrupt.wasRequested
    ? exitCodes.interrupted
    : isFine
      ? exitCodes.completed
      : exitCodes.failed;
  return { json: { items, skipped }, text, code };
}

/** Describes what restarts of these executions would do, without a restart. */
export async function forecastMany(
  server: NovaClient,
  { sources, skipped }: Chosen,
  work: Work,
): Promise<CommandOutput> {
  const items: ((RestartForecast & { execution_id: string }) | Done)[] = [];
  await runEach(sources, work, async ({ execution_id }) => {
    const asked = { ...work.changes, dry_run: true as const };
    const forecast = async () => ({ execution_id, ...(await server.executions.restart(execution_id, asked)) });
    items.push(await catchRefusal(execution_id, forecast));
  });
  const rows = items.map((item) => {
    if (!("runs" in item)) return [item.restarted_from, "", "", "", "", item.error?.message ?? ""];
    const { execution_id: id, reused, runs, again, misfits, estimate } = item;
    const counts = [reused, runs, again].map(({ length }) => String(length));
    return [id, ...counts, formatDuration(estimate.execution_time_ms), cell(misfits.join("; "))];
  });
  const table = tableLines(["execution", "reuse", "run", "run again", "about", ""], rows);
  const text = sources.length === 0 ? nothing : table;
  return { json: { items, skipped }, text: [text, skippedLines(skipped)].flat() };
}

const nothing = "no execution to restart";

function skippedLines(skipped: number): string[] {
  return skipped === 0 ? [] : [`${skipped} ${skipped === 1 ? "was" : "were"} restarted before`];
}

async function runEach<T>(items: readonly T[], { atOnce, interrupt }: Work, work: (item: T) => Promise<void>) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      if (interrupt.wasRequested) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/**
 * Returns the result of `work`. If the server refuses a restart, returns the refusal as a result, so that the other
 * restarts continue.
 */
async function catchRefusal<T>(id: string, work: () => Promise<T>): Promise<T | Done> {
  try {
    return await work();
  } catch (error) {
    const isOfThisOne = error instanceof Error && "status" in error && [404, 409, 422].includes(error.status as number);
    if (!isOfThisOne) throw error;
    const { message } = error;
    return { execution_id: null, restarted_from: id, status: "refused", error: { message } };
  }
}

const pauseMs = 1_000;

async function waitForRest(server: NovaClient, id: string, interrupted: Promise<void>): Promise<Execution> {
  for (let isOver = false; ; ) {
    const execution = await server.executions.get(id);
    if (isOver || (execution.status !== "running" && execution.status !== "queued")) return execution;
    isOver = await Promise.race([interrupted.then(() => true), sleep(pauseMs, false)]);
  }
}

const barWidth = 20;

function bar(done: number, all: number): string {
  const full = Math.floor((done / all) * barWidth);
  return `${styled("cyan", "█".repeat(full))}${styled("dim", "░".repeat(barWidth - full))} ${done}/${all}`;
}

function lineOf({ execution_id, restarted_from: from, status, error }: Done): string {
  const [word, why] = [status === "refused" ? styled("red", status) : statusText(status), error?.message ?? ""];
  return `${word} ${execution_id === null ? from : `${execution_id} from ${from}`}${why && `: ${cell(why, 80)}`}`;
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a date, a time, or a duration before `now` (`30m`, `12h`, `2d`) to ISO 8601. Throws `InvalidInput`. */
export function readSince(text: string, now = Date.now()): string {
  const [, number, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = number === undefined ? Date.parse(text) : now - Number(number) * (units[unit] ?? 0);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new InvalidInput(`--since ${text} is not a time - write 30m, 12h, 2d, or a date such as 2026-11-22`);
}
