import { userInfo } from "node:os";
import { defined } from "@nova/workflow/defined";
import { askApiAndStay } from "../api/ask.ts";
import { readJsonFile } from "../input/context.ts";
import { printOutput } from "../output/terminal.ts";
import { command } from "./command.ts";

export const approve = command({
  summary: "answer an approval with any of its choices",
  takes: {
    "<execution_id|task_id>": "the task, as nova tasks lists it, or an execution with one task so far",
    "[node]": "the node of the execution, if several of its nodes have a task; a node with two tasks needs the task id",
    "--choice <choice>": { says: "approved, rejected, or another choice of the approval", needed: true },
    "--data <file.json>": "the values for its form",
    "--as <who>": "the name of the person who answers; absent: the user of this machine",
  },
  async run([id = "", node], { choice, data: file, as: by = userInfo().username, json }) {
    const { RawJson } = await import("@nova/engine");
    const data = file === undefined ? undefined : new RawJson(await readJsonFile(file, "data"));
    const sent = defined({ choice, by, data });
    await askApiAndStay(async ({ tasks }) => {
      const isTask = id.startsWith("task_");
      const answered = await (isTask ? tasks.answer(id, sent) : tasks.answerIn(id, { ...sent, ...defined({ node }) }));
      const later = answered.sent ? "" : "; Step Functions did not accept it yet, the sweeper repeats it";
      const text = `${answered.node} of ${answered.execution_id}: ${answered.choice}${later}`;
      printOutput({ json: { ...answered, by }, text }, json);
      return [answered.execution_id];
    });
    return undefined;
  },
});
