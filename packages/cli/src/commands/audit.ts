import type { AuditRecord } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { firstItems, readLimit } from "../api/first-items.ts";
import { exitCodes } from "../errors.ts";
import { printList } from "../output/table.ts";
import type { CliCommand } from "./command.ts";

export const audit: CliCommand = {
  declare: (command) =>
    command
      .summary("list who did what, newest first")
      .option("--client <slug>", "only what was about this client")
      .option("--limit <number>", "at most so many", "100")
      .option("--json", "print one JSON object"),

  async run(_, { client, limit, json }) {
    const max = readLimit(String(limit));
    const of = client === undefined ? {} : { client: String(client) };
    const items = await askApi((server) =>
      firstItems(max, (page) => server.ask(server.api.GET("/audit", { params: { query: { ...page, ...of } } }))),
    );
    const header = ["when", "what", "of", "client", "by", ""];
    printList(items, json, { header, rowOf, empty: "nobody has done anything that is written down" });
    return exitCodes.completed;
  },
};

function rowOf({ at, action, subject, client_slug, by, detail }: AuditRecord): string[] {
  const details = Object.entries(detail).map(([name, value]) => `${name} ${value}`);
  return [at, action, subject, client_slug ?? "", by ?? "", details.join(", ")];
}
