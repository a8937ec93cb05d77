import type { NovaClient } from "@nova/client";
import { withDrivingCloud } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readDetail } from "../input/detail.ts";
import { print } from "../output/terminal.ts";
import { askHere } from "../place.ts";
import { serverHere } from "../server/server.ts";
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
    const send = async (server: NovaClient) => {
      const { event_id } = await server.ask(server.api.POST("/events", { body }));
      print(json ? JSON.stringify({ event_id }) : event_id, json);
      return [];
    };
    const server = await serverHere();
    // Here, what it starts is waited for where nobody else keeps the cloud open.
    if (server) await send(server);
    else await withDrivingCloud((cloud) => askHere(cloud, send));
    return exitCodes.completed;
  },
};
