import { askApi } from "../api/ask.ts";
import { type CliCommand, command } from "./command.ts";

export const pause = pauseCommand(
  "pause",
  "queue new runs of a workflow; started runs continue, and schedules start nothing",
);

export const resume = pauseCommand("resume", "end the pause of a workflow: queued runs start");

function pauseCommand(action: "pause" | "resume", summary: string): CliCommand {
  return command({
    summary,
    takes: { "<workflow>": "its id" },
    async run([id = ""]) {
      const { paused_at } = await askApi((server) =>
        server.ask(server.api.POST(`/workflows/{id}/${action}`, { params: { path: { id } } })),
      );
      const state = paused_at === null ? "continues" : `is paused since ${paused_at} - nova resume ${id} ends that`;
      return { json: { id, paused_at }, text: `${id} ${state}` };
    },
  });
}
