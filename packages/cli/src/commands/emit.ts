import { withDrivingCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { readDetail } from "../input/detail.ts";
import { print } from "../output/terminal.ts";
import { serverHere } from "../server/server.ts";
import type { CliCommand } from "./command.ts";

export const emit: CliCommand = {
  declare: (command) =>
    command
      .summary("send an event to the executions that wait for one like it")
      .requiredOption("--source <source>", "where it comes from, as in shop.orders")
      .requiredOption("--type <type>", "what happened, as in OrderPaid")
      .option("--detail <json>", "what there is to say, a JSON object", "{}")
      .option("--json", "print one JSON object"),

  async run(_, { source, type, detail, json }) {
    const { deliverEvent, RawJson } = await import("@nova/engine");
    const event = { source: String(source), type: String(type), detail: await readDetail(String(detail)) };
    const server = await serverHere();
    if (server) {
      const body = { ...event, detail: new RawJson(event.detail) as never };
      tell(await server.ask(server.api.POST("/events", { body })), json === true);
      return exitCodes.completed;
    }
    const { envelopeOf } = await import("@nova/service");
    const { id, text } = envelopeOf(event, new Date());
    await withDrivingCloud(async ({ ports }) => {
      const tasks = await deliverEvent(ports, text);
      tell({ event_id: id, items: tasks.map(itemOf) }, json === true);
      return tasks.map(({ execution }) => execution);
    });
    return exitCodes.completed;
  },
};

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

function itemOf({ id, execution, node }: { id: string; execution: string; node: string }) {
  return { task_id: id, execution_id: execution, node };
}
