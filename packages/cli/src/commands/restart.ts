import type { RestartForecast, RestartOptions } from "@nova/client";
import { defined } from "@nova/workflow/defined";
import { askApi } from "../api/ask.ts";
import { readCount } from "../api/first-items.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readContext } from "../input/context.ts";
import { Interrupt } from "../interrupt.ts";
import { print, printError, styled, type Told } from "../output/terminal.ts";
import { duration } from "../output/text.ts";
import { mayRunAgain, mayRunManyAgain } from "../remote/run-again.ts";
import { runInPlace, tellingRefusals } from "../run/in-place.ts";
import { command } from "./command.ts";
import { onServerOrHere } from "./run.ts";
import { readVersion } from "./versions.ts";

const ends = ["failed", "cancelled", "interrupted", "completed"] as const;

export const restart = command({
  summary: "run an execution again from what failed, or from a place on, and take over what ran before that",
  takes: {
    "[execution_id]": "absent: those that --workflow and what follows it choose, and that were not restarted before",
    "--from <place>": {
      says: "from here on everything runs: find, poll#2, each[3], each[3].find, billing/send (repeatable)",
      each: true,
    },
    "--version <number>": "of its workflow; absent: its own",
    "--patch <file.json>": "other values for keys of the initial context, a JSON object",
    "--ask-again <node>": { says: "this node runs again wherever it comes up (repeatable)", each: true },
    "--workflow <id>": "many: of this workflow",
    "--status <status>": { says: "many: that ended like this", absent: "failed", choices: [...ends] },
    "--since <time>": "many: that began since: 2d, 12h, 30m, or a time in ISO 8601",
    "--error <class>": "many: whose error is of this class, such as NodeTimeout",
    "--client <slug>": "many: of this client",
    "--at-once <number>": { says: "many: so many of them at a time", absent: "10" },
    "--yes": "do not ask before nodes with effects run again",
    "--dry-run": "say what would be reused and what would run; nothing is started",
  },
  async run([id], { json = false, dryRun, yes = false, from, version, patch, askAgain, ...many }) {
    const interrupt = new Interrupt();
    return tellingRefusals(json, async () => {
      const wish: RestartOptions = defined({
        from: from.length > 0 ? from : undefined,
        version: version === undefined ? undefined : readVersion(version),
        context_patch: patch === undefined ? undefined : await readPatch(patch),
        ask_again: askAgain.length > 0 ? askAgain : undefined,
      });
      if (id === undefined) return restartChosen(interrupt, many, { wish, json, dryRun, yes });
      if (many.workflow !== undefined) throw new InvalidInput("name one execution, or many with --workflow - not both");
      if (dryRun) {
        const told = await askApi(({ executions }) => executions.restart(id, { ...wish, dry_run: true as const }));
        return { json: told, text: forecastLines(id, told) };
      }
      return onServerOrHere(interrupt, async (place) => {
        if (!yes && !(await mayRunAgain(place.server, id, { wish, json }))) return notStarted;
        const start = async () => (interrupt.happened ? null : place.server.executions.restart(id, wish));
        return runInPlace(start, { ...place, interrupt, json });
      });
    });
  },
});

/** Somebody was asked, and said no. */
const notStarted: Told = { json: { items: [] }, text: "nothing is restarted", code: exitCodes.failed };

type Many = Record<"workflow" | "since" | "error" | "client", string | undefined> & {
  status: (typeof ends)[number];
  atOnce: string;
};

async function restartChosen(
  interrupt: Interrupt,
  { workflow, status, since, error, client, atOnce }: Many,
  { wish, json, dryRun, yes }: { wish: RestartOptions; json: boolean; dryRun: true | undefined; yes: boolean },
): Promise<Told> {
  if (workflow === undefined)
    throw new InvalidInput("no execution is named - name one as nova executions lists them, or many with --workflow");
  const { chooseSources, forecastMany, readSince, restartMany } = await import("../remote/restart-many.ts");
  const from = since === undefined ? undefined : readSince(since);
  const tell = json ? printError : (line: string) => print(line);
  const work = { wish, atOnce: readCount("--at-once", atOnce), interrupt, tell };
  return onServerOrHere(interrupt, async ({ server }) => {
    const chosen = await chooseSources(server, defined({ workflow, status, from, error, client }));
    if (dryRun) return forecastMany(server, chosen, work);
    const count = chosen.sources.length;
    if (!yes && !(await mayRunManyAgain(server, workflow, { wish, json, count }))) return notStarted;
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
    `a restart of ${id} would begin like this, and has not:`,
    some("reuse", reused),
    some("run", runs),
    some("run again", again, ", whose effects may happen twice"),
    `  ${styled("cyan", "cost")} about $${usd.toFixed(4)} and ${duration(ms)} of code, as they took in ${id}`,
    misfits.map((misfit) => styled("red", `  does not fit: ${misfit}`)),
  ].flat(2);
}
