import type { ExecutionQuery } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { duration, statusText } from "../output/text.ts";
import { inPlace } from "../place.ts";
import type { ShownExecution } from "../records/shown.ts";
import { readLimit } from "../remote/first-items.ts";
import type { CliCommand } from "./command.ts";

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

export const executions: CliCommand = {
  declare: (command) =>
    command
      .summary("list executions, newest first")
      .option("--workflow <id>", "only of this workflow")
      .option("--status <status>", `only these: ${statuses.join(", ")}`)
      .option("--limit <number>", "at most so many", "100")
      .option("--json", "print one JSON object"),

  async run(_, { workflow, status, limit, json }) {
    const query = {
      ...(typeof workflow === "string" && { workflow }),
      ...(typeof status === "string" && { status: readStatus(status) }),
    };
    const most = readLimit(String(limit));
    const items = await inPlace<ShownExecution[]>({
      local: (cloud) => list(cloud, { ...query, limit: most }),
      remote: async (server) => (await import("../remote/lists.ts")).listExecutions(server, query, most),
    });
    if (json) print(JSON.stringify({ items: items.map(itemOf) }), true);
    else if (items.length === 0) print("no executions - nova run <folder> makes one");
    else print(tableLines(["execution", "workflow", "status", "started", "time"], items.map(rowOf)).join("\n"));
    return exitCodes.completed;
  },
};

/** A page may be shorter than its limit while there are more. */
async function list({ ports }: LocalCloud, query: ExecutionQuery & { limit: number }): Promise<ShownExecution[]> {
  const items: ShownExecution[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await ports.executions.list({ ...query, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    cursor = page.cursor;
    if (cursor === undefined || items.length >= query.limit) return items.slice(0, query.limit);
  }
}

function readStatus(text: string): (typeof statuses)[number] {
  const status = statuses.find((one) => one === text);
  if (!status) throw new InvalidInput(`there is no status "${text}" - use one of ${statuses.join(", ")}`);
  return status;
}

function itemOf({ id, workflowId, status, startedAt, durationMs }: ShownExecution) {
  return { execution_id: id, workflow: workflowId, status, started_at: startedAt, duration_ms: durationMs ?? null };
}

function rowOf({ id, workflowId, status, startedAt, durationMs }: ShownExecution): string[] {
  const time = durationMs === undefined ? "" : duration(durationMs);
  return [id, workflowId, statusText(status), startedAt, time];
}
