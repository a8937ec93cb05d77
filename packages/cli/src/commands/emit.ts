import type { Command } from "commander";
import { askApiToGoOn } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readDetail } from "../input/detail.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const emit: CliCommand = {
  declare: (command) => declareEvent(command.summary("send an event to the executions that wait for one like it")),

  async run(_, { source, type, detail, json }) {
    const { RawJson } = await import("@nova/engine");
    const content = new RawJson(await readDetail(String(detail)));
    const body = { source: String(source), type: String(type), detail: content as never };
    await askApiToGoOn(async (nova) => {
      const taken = await nova.ask(nova.api.POST("/events", { body }));
      tell(taken, json === true);
      return taken.items.map(({ execution_id }) => execution_id);
    });
    return exitCodes.completed;
  },
};

function declareEvent(command: Command): Command {
  return command
    .requiredOption("--source <source>", "where it comes from, as in shop.orders")
    .requiredOption("--type <type>", "what happened, as in OrderPaid")
    .option("--detail <json>", "what there is to say, a JSON object; @file reads it from a file", "{}")
    .option("--json", "print one JSON object");
}

interface Taken {
  event_id: string;
  items: { task_id: string; execution_id: string; node: string }[];
}

function tell(taken: Taken, json: boolean): void {
  if (json) print(JSON.stringify(taken), true);
  else if (taken.items.length === 0)
    print('nobody waits for an event like this - a wait with "since": "start" may still find it');
  else print(taken.items.map(({ execution_id, node }) => `${execution_id}: ${node} has it`).join("\n"));
}

export const event: CliCommand = {
  declare: (command) =>
    declareEvent(
      command
        .summary("put an event on the bus: it starts what has a trigger for it, and reaches what waits for it")
        .argument("<put>", "what to do"),
    ),

  async run([action], { source, type, detail, json }) {
    if (action !== "put") throw new InvalidInput(`nova event cannot "${action}" - it can put`);
    const put = { source: String(source), type: String(type), detail: await readDetail(String(detail)) };
    const { RawJson } = await import("@nova/engine");
    const body = { ...put, on_bus: true, detail: new RawJson(put.detail) as never };
    // On this machine, what it starts is waited for where nobody else keeps the cloud open.
    await askApiToGoOn(async (nova) => {
      const { event_id } = await nova.ask(nova.api.POST("/events", { body }));
      print(json ? JSON.stringify({ event_id }) : event_id, json);
      return [];
    });
    return exitCodes.completed;
  },
};
