import { userInfo } from "node:os";
import type { Schemas } from "@nova/client";
import { askApiToGoOn } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { readJsonFile } from "../input/context.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const approve: CliCommand = {
  declare: (command) =>
    command
      .summary("answer an approval, whatever the choice")
      .argument("<execution_id|task_id>")
      .argument("[node]", "the approval that waits, where several of the execution do")
      .requiredOption("--choice <choice>", "approved, rejected, or what else the approval offers")
      .option("--data <file.json>", "what its form asks for")
      .option("--as <who>", "who answers; absent: the user of this machine")
      .option("--json", "print one JSON object"),

  async run([id = "", node], { choice, data, as: who, json }) {
    const { RawJson } = await import("@nova/engine");
    const text = typeof data === "string" ? await readJsonFile(data, "data") : undefined;
    const by = typeof who === "string" ? who : userInfo().username;
    const given = { choice: String(choice), by, ...(text !== undefined && { data: new RawJson(text) }) };
    await askApiToGoOn(async ({ tasks }) => {
      const answered = await (id.startsWith("task_")
        ? tasks.answer(id, given)
        : tasks.answerIn(id, { ...given, ...(node !== undefined && { node }) }));
      print(json ? JSON.stringify({ ...answered, by }) : lineOf(answered), json);
      return [answered.execution_id];
    });
    return exitCodes.completed;
  },
};

function lineOf({ node, execution_id, choice, sent }: Schemas["AnsweredTask"]): string {
  const later = sent ? "" : "; Step Functions could not be told yet, the sweeper will";
  return `${node} of ${execution_id}: ${choice}${later}`;
}
