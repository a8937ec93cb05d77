import type { Task } from "@nova/client";
import type { RawJson } from "@nova/engine";
import { Option } from "commander";
import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { printList } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import { cell, duration, strangersText } from "../output/text.ts";
import type { CliCommand } from "./command.ts";

type AgedTask = Task & { age_seconds: number };

/** How each kind is listed. What others sent must not steer the terminal. */
const kinds = {
  approval: {
    header: ["execution", "workflow", "client", "node", "choices", "age", "until", "message"],
    rowOf: (task: AgedTask) => [...placeOf(task), task.choices.join("|"), ...timesOf(task), cell(task.message)],
    empty: "nothing waits for an answer - nova tasks --kind event lists what waits for an event",
  },
  event: {
    header: ["execution", "workflow", "client", "node", "age", "until", "pattern"],
    rowOf: (task: AgedTask) => [...placeOf(task), ...timesOf(task), cell((task.pattern as RawJson | null)?.text ?? "")],
    empty: "nothing waits for an event",
  },
};

export const tasks: CliCommand = {
  declare: (command) =>
    command
      .summary("list what waits for somebody's answer, or for an event, oldest first")
      .addOption(new Option("--kind <kind>", "event: for an event; absent: for an answer").choices(Object.keys(kinds)))
      .option("--json", "print one JSON object"),

  async run(_, options) {
    const { kind = "approval", json } = options as { kind?: keyof typeof kinds; json?: true };
    const items = await askApi((server) => Array.fromAsync(server.tasks.list({ kind })));
    const now = Date.now();
    const aged = items.map((task) => ({ ...task, age_seconds: ageSeconds(task, now) }));
    if (json) {
      const { renderJson } = await import("@nova/engine");
      print(renderJson({ items: aged }), true);
    } else {
      printList(aged, false, kinds[kind]);
      for (const line of items.flatMap(unmailedLine)) print(line);
    }
    return exitCodes.completed;
  },
};

function placeOf({ execution_id, workflow, client, node }: Task): string[] {
  return [execution_id, workflow, client ?? "", node];
}

function timesOf({ age_seconds, expires_at }: AgedTask): string[] {
  return [duration(age_seconds * 1000), expires_at];
}

/** Clocks differ: nobody has waited for less than nothing. */
function ageSeconds({ created_at }: Task, now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(created_at)) / 1000));
}

function unmailedLine({ execution_id, node, mail }: Task): string[] {
  if (!mail?.problem) return [];
  return [`${node} of ${execution_id}: no mail went out to ${mail.to.join(", ")}: ${strangersText(mail.problem)}`];
}
