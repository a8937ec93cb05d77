import type { Schemas } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { listed } from "../api/first-items.ts";
import { InvalidInput } from "../errors.ts";
import { told } from "../output/table.ts";
import { actionOf, command } from "./command.ts";

type Schedule = Schemas["Schedule"];

export const schedules = command({
  summary: "list every schedule with its next time, pause and resume one",
  takes: {
    "[list|pause|resume]": { says: "what to do", absent: "list" },
    "[workflow]": "with list: only its schedules",
    "[schedule]": "id of its trigger; needless where the workflow has one schedule",
  },
  async run([asked, workflow, schedule]) {
    const action = actionOf("schedules", ["list", "pause", "resume"], asked);
    if (action === "list") {
      const items = await schedulesOf(workflow);
      const header = ["workflow", "schedule", "client", "when", "next", "next here", ""];
      return told(items, { header, rowOf, empty: "no active version has a schedule" });
    }
    if (workflow === undefined) throw new InvalidInput(`nova schedules ${action} needs a workflow - name its id`);
    const trigger = schedule ?? (await onlyOne(workflow, action));
    const params = { path: { id: workflow, trigger } };
    const changed = await askApi((server) =>
      server.ask(server.api.POST(`/workflows/{id}/schedules/{trigger}/${action}`, { params })),
    );
    const { timezone, next_at, paused_at } = changed;
    const state = paused_at === null ? "goes on" : `is paused since ${paused_at}`;
    const next = next_at === null ? "" : `, next at ${clockAt(next_at, timezone)} ${timezone}`;
    return { json: changed, text: `${trigger} of ${workflow} ${state}${next}` };
  },
});

function schedulesOf(workflow: string | undefined): Promise<Schedule[]> {
  return listed("/schedules", Number.POSITIVE_INFINITY, { workflow });
}

async function onlyOne(workflow: string, action: string): Promise<string> {
  const [first, ...others] = await schedulesOf(workflow);
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

/** What a clock shows in a time zone, or on this machine: `2026-01-31 09:00`. Swedish writes it so. */
function clockAt(time: string, timeZone?: string): string {
  return new Date(time).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone });
}
