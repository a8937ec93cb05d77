import { askApi } from "../api/ask.ts";
import { type CliCommand, command } from "./command.ts";

export const pause = changing("pause", "queue new runs of a workflow; those that have begun go on, and schedules pass");

export const resume = changing("resume", "end the pause of a workflow: what is queued begins");

function changing(action: "pause" | "resume", summary: string): CliCommand {
  return command({
    summary,
    takes: { "<workflow>": "its id" },
    async run([id = ""]) {
      const { paused_at } = await askApi((server) =>
        server.ask(server.api.POST(`/workflows/{id}/${action}`, { params: { path: { id } } })),
      );
      const state = paused_at === null ? "goes on" : `is paused since ${paused_at} - nova resume ${id} ends that`;
      return { json: { id, paused_at }, text: `${id} ${state}` };
    },
  });
}
