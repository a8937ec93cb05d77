import type { Delivery } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { firstItems, readLimit } from "../api/first-items.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { cell } from "../output/text.ts";
import type { CliCommand } from "./command.ts";

const statuses = ["accepted", "started", "refused", "failed"] as const;

export const deliveries: CliCommand = {
  declare: (command) =>
    command
      .summary("list what came in for triggers, newest first: mails, requests, times, events")
      .option("--workflow <id>", "only for this workflow")
      .option("--client <slug>", "only for this client")
      .option("--status <status>", `only these: ${statuses.join(", ")}`)
      .option("--limit <number>", "at most so many", "100")
      .option("--json", "print one JSON object"),

  async run(_, { workflow, client, status, limit, json }) {
    const max = readLimit(String(limit));
    const wanted = {
      ...(typeof workflow === "string" && { workflow }),
      ...(typeof client === "string" && { client }),
      ...(typeof status === "string" && { status: readStatus(status) }),
    };
    const items = await askApi((server) =>
      firstItems(max, (page) =>
        server.ask(server.api.GET("/deliveries", { params: { query: { ...wanted, ...page } } })),
      ),
    );
    if (json) print(JSON.stringify({ items }), true);
    else if (items.length === 0) print("nothing has come in for a trigger");
    else {
      const header = ["when", "kind", "workflow", "client", "status", "from", "about", ""];
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

/** Last the run that was started, or why there is none. */
function rowOf({ at, type, workflow, client_slug, status, from, about, execution_id, reason }: Delivery): string[] {
  const outcome = execution_id ?? reason ?? "";
  return [at, type, workflow ?? "", client_slug ?? "", status, ...[from, about, outcome].map((text) => cell(text))];
}
