import { randomUUID } from "node:crypto";
import { withDrivingCloud } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
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
    const { deliverEvent, RawJson, renderJson } = await import("@nova/engine");
    const event = { ...envelope(String(source), String(type)), detail: new RawJson(readDetail(String(detail))) };
    await withDrivingCloud(async ({ ports }) => {
      const tasks = await deliverEvent(ports, renderJson(event));
      if (json) console.log(JSON.stringify({ event_id: event.id, items: tasks.map(itemOf) }));
      else if (tasks.length === 0) console.log("nobody waits for an event like this");
      else console.log(tasks.map(({ execution, node }) => `${execution}: ${node} has it`).join("\n"));
      return tasks.map(({ execution }) => execution);
    });
    return exitCodes.completed;
  },
};

/** What EventBridge puts around a detail. */
function envelope(source: string, type: string) {
  const time = new Date().toISOString();
  return { version: "0", id: randomUUID(), "detail-type": type, source, account: "000000000000", time, resources: [] };
}

function readDetail(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidInput(`--detail ${text} is no JSON object - write --detail '{"key": "value"}'`);
}

function itemOf({ id, execution, node }: { id: string; execution: string; node: string }) {
  return { task_id: id, execution_id: execution, node };
}
