import { userInfo } from "node:os";
import { defined } from "@nova/workflow/defined";
import { askApiToGoOn } from "../api/ask.ts";
import { readJsonFile } from "../input/context.ts";
import { printTold } from "../output/terminal.ts";
import { command } from "./command.ts";

export const approve = command({
  summary: "answer an approval, whatever the choice",
  takes: {
    "<execution_id|task_id>": "the task, as nova tasks lists it; or an execution that has asked for one answer so far",
    "[node]": "of the execution, if several of its nodes have asked; a node that has asked twice needs the task",
    "--choice <choice>": { says: "approved, rejected, or what else the approval offers", needed: true },
    "--data <file.json>": "what its form asks for",
    "--as <who>": "who answers; absent: the user of this machine",
  },
  async run([id = "", node], { choice, data: file, as: by = userInfo().username, json }) {
    const { RawJson } = await import("@nova/engine");
    const data = file === undefined ? undefined : new RawJson(await readJsonFile(file, "data"));
    const sent = defined({ choice, by, data });
    await askApiToGoOn(async ({ tasks }) => {
      const isTask = id.startsWith("task_");
      const answered = await (isTask ? tasks.answer(id, sent) : tasks.answerIn(id, { ...sent, ...defined({ node }) }));
      const later = answered.sent ? "" : "; Step Functions could not be told yet, the sweeper will";
      const text = `${answered.node} of ${answered.execution_id}: ${answered.choice}${later}`;
      printTold({ json: { ...answered, by }, text }, json);
      return [answered.execution_id];
    });
    return undefined;
  },
});
