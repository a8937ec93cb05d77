import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const pause = changing("pause", "queue new runs of a workflow; those that have begun go on, and schedules pass");

export const resume = changing("resume", "end the pause of a workflow: what is queued begins");

function changing(action: "pause" | "resume", summary: string): CliCommand {
  return {
    declare: (command) =>
      command.summary(summary).argument("<workflow>", "its id").option("--json", "print one JSON object"),

    async run([id = ""], { json }) {
      const { paused_at } = await askApi((server) =>
        server.ask(server.api.POST(`/workflows/{id}/${action}`, { params: { path: { id } } })),
      );
      const line =
        paused_at === null ? `${id} goes on` : `${id} is paused since ${paused_at} - nova resume ${id} ends that`;
      print(json ? JSON.stringify({ id, paused_at }) : line, json);
      return exitCodes.completed;
    },
  };
}
