import { askApiToGoOn } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readDetail } from "../input/detail.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const event: CliCommand = {
  declare: (command) =>
    command
      .summary("put an event on the bus: it starts what has a trigger for it, and reaches what waits for it")
      .argument("<put>", "what to do")
      .requiredOption("--source <source>", "where it comes from, as in shop.orders")
      .requiredOption("--type <type>", "what happened, as in OrderPaid")
      .option("--detail <json>", "what there is to say, a JSON object; @file reads it from a file", "{}")
      .option("--json", "print one JSON object"),

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
