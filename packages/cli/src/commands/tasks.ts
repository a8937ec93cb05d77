import type { Task } from "@nova/client";
import { exitCodes } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { cell, duration, strangersText } from "../output/text.ts";
import { askApi } from "../place.ts";
import type { CliCommand } from "./command.ts";

export const tasks: CliCommand = {
  declare: (command) =>
    command.summary("list what waits for somebody's answer, oldest first").option("--json", "print one JSON object"),

  async run(_, { json }) {
    const items = await askApi((server) => Array.fromAsync(server.tasks.list()));
    const now = Date.now();
    const aged = items.map((task) => ({ ...task, age_seconds: ageSeconds(task, now) }));
    if (json) print(JSON.stringify({ items: aged }), true);
    else if (items.length === 0) print("nothing waits for an answer");
    else {
      const header = ["execution", "workflow", "client", "node", "choices", "age", "until", "message"];
      print([...tableLines(header, aged.map(rowOf)), ...items.flatMap(unmailedLine)].join("\n"));
    }
    return exitCodes.completed;
  },
};

/** Clocks differ: nobody has waited for less than nothing. */
function ageSeconds({ created_at }: Task, now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(created_at)) / 1000));
}

function unmailedLine({ execution_id, node, mail }: Task): string[] {
  if (!mail?.problem) return [];
  return [`${node} of ${execution_id}: no mail went out to ${mail.to.join(", ")}: ${strangersText(mail.problem)}`];
}

/** A message is filled with what others sent: it must not steer the terminal. */
function rowOf(task: Task & { age_seconds: number }): string[] {
  const { execution_id, workflow, client, node, choices, expires_at, message } = task;
  const age = duration(task.age_seconds * 1000);
  return [execution_id, workflow, client ?? "", node, choices.join("|"), age, expires_at, cell(message)];
}
