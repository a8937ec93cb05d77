import type { RestartForecast, RestartOptions } from "@nova/client";
import { defined } from "@nova/workflow/defined";
import { askApi } from "../api/ask.ts";
import { readCount } from "../api/first-items.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readContext } from "../input/context.ts";
import { Interrupt } from "../interrupt.ts";
import { type CommandOutput, print, printError, styled } from "../output/terminal.ts";
import { duration } from "../output/text.ts";
import { confirmRestart, confirmRestarts } from "../remote/run-again.ts";
import { reportRefusals, runInPlace } from "../run/in-place.ts";
import { command } from "./command.ts";
import { onServerOrHere } from "./run.ts";
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
        const forecast = await askApi(({ executions }) =>
          executions.restart(id, { ...changes, dry_run: true as const }),
        );
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

/** The user was asked, and said no. */
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
  const { chooseSources, forecastMany, readSince, restartMany } = await import("../remote/restart-many.ts");
  const from = since === undefined ? undefined : readSince(since);
  const tell = json ? printError : (line: string) => print(line);
  const work = { changes, atOnce: readCount("--at-once", atOnce), interrupt, tell };
  return onServerOrHere(interrupt, async ({ server }) => {
    const chosen = await chooseSources(server, defined({ workflow, status, from, error, client }));
    if (dryRun) return forecastMany(server, chosen, work);
    const count = chosen.sources.length;
    if (!yes && !(await confirmRestarts(server, workflow, { changes, json, count }))) return notStarted;
    return restartMany(server, chosen, work);
  });
}

async function readPatch(path: string): Promise<object> {
  const { RawJson } = await import("@nova/engine");
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
    `  ${styled("cyan", "cost")} about $${usd.toFixed(4)} and ${duration(ms)} of code, as in ${id}`,
    misfits.map((misfit) => styled("red", `  does not fit: ${misfit}`)),
  ].flat(2);
}
