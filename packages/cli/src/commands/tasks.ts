import type { LocalCloud } from "@nova/local";
import { exitCodes } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { shortened } from "../output/text.ts";
import { inPlace } from "../place.ts";
import type { ShownTask } from "../records/shown.ts";
import type { CliCommand } from "./command.ts";

export const tasks: CliCommand = {
  declare: (command) =>
    command.summary("list what waits for somebody's answer, oldest first").option("--json", "print one JSON object"),

  async run(_, { json }) {
    const items = await inPlace<ShownTask[]>({
      local: openTasks,
      remote: async (server) => (await import("../remote/lists.ts")).listTasks(server),
    });
    if (json) print(JSON.stringify({ items: items.map(itemOf) }), true);
    else if (items.length === 0) print("nothing waits for an answer");
    else print(tableLines(["execution", "node", "choices", "until", "message"], items.map(rowOf)).join("\n"));
    return exitCodes.completed;
  },
};

async function openTasks({ ports }: LocalCloud): Promise<ShownTask[]> {
  const now = new Date(ports.clock.now()).toISOString();
  const pending = await Array.fromAsync(ports.tasks.pending());
  return pending.filter(({ kind, status, expiresAt }) => kind === "approval" && status === "open" && expiresAt > now);
}

function itemOf({ id, execution, node, message, choices, to, createdAt, expiresAt }: ShownTask) {
  return {
    task_id: id,
    execution_id: execution,
    node,
    message,
    choices,
    to,
    created_at: createdAt,
    expires_at: expiresAt,
  };
}

/** A message is filled with what others sent: it must not steer the terminal. */
function rowOf({ execution, node, choices, expiresAt, message }: ShownTask): string[] {
  return [execution, node, choices.join("|"), expiresAt, shortened(message, 60)];
}
