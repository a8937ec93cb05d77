import type { NovaClient } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { firstItems } from "../api/first-items.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { figureTable } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

type Query = { from?: string; to?: string; workflow?: string; client?: string; limit: number; cursor?: string };

/** Each report's way to a page of it. */
const reports = {
  workflows: (server: NovaClient, query: Query) =>
    server.ask(server.api.GET("/analytics/workflows", { params: { query } })),
  nodes: (server: NovaClient, query: Query) => server.ask(server.api.GET("/analytics/nodes", { params: { query } })),
  errors: (server: NovaClient, query: Query) => server.ask(server.api.GET("/analytics/errors", { params: { query } })),
  "ai-cost": (server: NovaClient, query: Query) =>
    server.ask(server.api.GET("/analytics/ai-cost", { params: { query } })),
} as const;

type Figures = Record<string, string | number | null>;

export const analytics: CliCommand = {
  declare: (command) =>
    command
      .summary("print figures of runs that have ended: how many, how long, what went wrong, what models cost")
      .argument("<workflows|nodes|errors|ai-cost>", "by what")
      .option("--from <time>", "runs that ended then or later: 2026-11-01, or a time in ISO 8601; absent: 30 days ago")
      .option("--to <time>", "runs that ended then or earlier; a date means all of that day")
      .option("--workflow <id>", "only of this workflow")
      .option("--client <slug>", "only of this client")
      .option("--json", "print one JSON object"),

  async run([name = ""], { json, ...options }) {
    if (!isReport(name))
      throw new InvalidInput(`there are no figures of "${name}" - ${Object.keys(reports).join(", ")}`);
    const items = await askApi((server) =>
      firstItems<Figures>(Number.POSITIVE_INFINITY, (page) => reports[name](server, { ...options, ...page })),
    );
    if (json) print(JSON.stringify({ items }), true);
    else if (items.length === 0) print("no figures - they are of runs that have ended in this time");
    else print(figureTable(items).join("\n"));
    return exitCodes.completed;
  },
};

function isReport(name: string): name is keyof typeof reports {
  return Object.hasOwn(reports, name);
}
