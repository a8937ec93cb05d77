import type { NovaClient, Schemas } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { firstItems } from "../api/first-items.ts";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { printList } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

type Schedule = Schemas["Schedule"];

export const schedules: CliCommand = {
  declare: (command) =>
    command
      .summary("list every schedule with its next time, pause and resume one")
      .argument("[list|pause|resume]", "what to do", "list")
      .argument("[workflow]", "with list: only its schedules")
      .argument("[schedule]", "id of its trigger; needless where the workflow has one schedule")
      .option("--json", "print one JSON object"),

  async run([action = "list", workflow, schedule], { json }): Promise<ExitCode> {
    if (action === "list") {
      const items = await askApi((server) => listed(server, workflow));
      const header = ["workflow", "schedule", "client", "when", "next", "next here", ""];
      printList(items, json, { header, rowOf, empty: "no active version has a schedule" });
      return exitCodes.completed;
    }
    if (action !== "pause" && action !== "resume")
      throw new InvalidInput(`nova schedules cannot "${action}" - it can list, pause and resume`);
    if (workflow === undefined) throw new InvalidInput(`nova schedules ${action} needs a workflow - name its id`);
    const changed = await askApi(async (server) => {
      const trigger = schedule ?? (await onlyOne(server, workflow, action));
      const params = { path: { id: workflow, trigger } };
      return server.ask(server.api.POST(`/workflows/{id}/schedules/{trigger}/${action}`, { params }));
    });
    print(json ? JSON.stringify(changed) : lineOf(changed), json);
    return exitCodes.completed;
  },
};

/** More than anybody reads. */
const longestList = 10_000;

function listed(server: NovaClient, workflow: string | undefined): Promise<Schedule[]> {
  const of = workflow === undefined ? {} : { workflow };
  return firstItems(longestList, (page) =>
    server.ask(server.api.GET("/schedules", { params: { query: { ...page, ...of } } })),
  );
}

async function onlyOne(server: NovaClient, workflow: string, action: string): Promise<string> {
  const [first, ...others] = await listed(server, workflow);
  if (!first) throw new InvalidInput(`"${workflow}" has no schedule - nova schedules lists them`);
  if (others.length === 0) return first.trigger;
  const ids = [first, ...others].map(({ trigger }) => trigger).join(", ");
  throw new InvalidInput(`"${workflow}" has several schedules - nova schedules ${action} ${workflow} <one of ${ids}>`);
}

function rowOf(schedule: Schedule): string[] {
  const { workflow, trigger, client_slug, expression, timezone, next_at, paused_at } = schedule;
  const state = paused_at === null ? "" : `paused since ${paused_at}`;
  const [there, here] = next_at === null ? ["", ""] : [`${clockAt(next_at, timezone)} ${timezone}`, clockAt(next_at)];
  return [workflow, trigger, client_slug ?? "", expression, there, here, state];
}

function lineOf({ workflow, trigger, timezone, next_at, paused_at }: Schedule): string {
  const state = paused_at === null ? "goes on" : `is paused since ${paused_at}`;
  const next = next_at === null ? "" : `, next at ${clockAt(next_at, timezone)} ${timezone}`;
  return `${trigger} of ${workflow} ${state}${next}`;
}

/** What a clock shows in a time zone, or on this machine: `2026-01-31 09:00`. Swedish writes it so. */
function clockAt(time: string, timeZone?: string): string {
  const format = { dateStyle: "short", timeStyle: "short", ...(timeZone !== undefined && { timeZone }) } as const;
  return new Date(time).toLocaleString("sv-SE", format);
}
