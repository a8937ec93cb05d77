import { askApiToGoOn } from "../api/ask.ts";
import { readDetail } from "../input/detail.ts";
import { printTold } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

const described = {
  "--source <source>": { says: "where it comes from, as in shop.orders", needed: true },
  "--type <type>": { says: "what happened, as in OrderPaid", needed: true },
  "--detail <json>": { says: "what there is to say, a JSON object; @file reads it from a file", absent: "{}" },
} as const;

export const emit = command({
  summary: "send an event to the executions that wait for one like it",
  takes: described,
  async run(_, { json, ...given }) {
    const body = await bodyOf(given);
    await askApiToGoOn(async (nova) => {
      const taken = await nova.ask(nova.api.POST("/events", { body }));
      const lines = taken.items.map(({ execution_id, node }) => `${execution_id}: ${node} has it`);
      const nobody = 'nobody waits for an event like this - a wait with "since": "start" may still find it';
      printTold({ json: taken, text: lines.length === 0 ? nobody : lines }, json);
      return taken.items.map(({ execution_id }) => execution_id);
    });
    return undefined;
  },
});

async function bodyOf({ source, type, detail }: { source: string; type: string; detail: string }) {
  const text = await readDetail(detail);
  const { RawJson } = await import("@nova/engine");
  return { source, type, detail: new RawJson(text) as never };
}

export const event = command({
  summary: "put an event on the bus: it starts what has a trigger for it, and reaches what waits for it",
  takes: { "<put>": "what to do", ...described },
  async run([asked], { json, ...given }) {
    actionOf("event", ["put"], asked);
    const body = { ...(await bodyOf(given)), on_bus: true };
    // On this machine, what it starts is waited for where nobody else keeps the cloud open.
    await askApiToGoOn(async (nova) => {
      const { event_id } = await nova.ask(nova.api.POST("/events", { body }));
      printTold({ json: { event_id }, text: event_id }, json);
      return [];
    });
    return undefined;
  },
});
