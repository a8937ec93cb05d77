import type { Execution } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { firstItems, readLimit } from "../api/first-items.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { duration, statusText } from "../output/text.ts";
import type { CliCommand } from "./command.ts";

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

export const executions: CliCommand = {
  declare: (command) =>
    command
      .summary("list executions, newest first")
      .option("--workflow <id>", "only of this workflow")
      .option("--client <slug>", "only of this client")
      .option("--status <status>", `only these: ${statuses.join(", ")}`)
      .option("--limit <number>", "at most so many", "100")
      .option("--json", "print one JSON object"),

  async run(_, { workflow, client, status, limit, json }) {
    const query = {
      ...(typeof workflow === "string" && { workflow }),
      ...(typeof client === "string" && { client }),
      ...(typeof status === "string" && { status: readStatus(status) }),
    };
    const max = readLimit(String(limit));
    const items = await askApi((server) =>
      firstItems(max, (page) =>
        server.ask(server.api.GET("/executions", { params: { query: { ...query, ...page } } })),
      ),
    );
    if (json) print(JSON.stringify({ items: items.map(itemOf) }), true);
    else if (items.length === 0) print("no executions - nova run <folder> makes one");
    else {
      const header = ["execution", "workflow", "version", "client", "status", "started", "time"];
      print(tableLines(header, items.map(rowOf)).join("\n"));
    }
    return exitCodes.completed;
  },
};

function readStatus(text: string): (typeof statuses)[number] {
  const status = statuses.find((one) => one === text);
  if (!status) throw new InvalidInput(`there is no status "${text}" - use one of ${statuses.join(", ")}`);
  return status;
}

function itemOf({ execution_id, workflow, version, client, status, started_at, duration_ms }: Execution) {
  return { execution_id, workflow, version, client, status, started_at, duration_ms };
}

function rowOf({ execution_id, workflow, version, client, status, started_at, duration_ms }: Execution): string[] {
  const time = duration_ms === null ? "" : duration(duration_ms);
  return [execution_id, workflow, String(version), client, statusText(status), started_at, time];
}
