import { hostname, userInfo } from "node:os";
import type { Answer, Answered, TaskName } from "@nova/engine";
import { withDrivingCloud } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readJsonFile } from "../input/context.ts";
import { print } from "../output/terminal.ts";
import { serverHere } from "../remote/server.ts";
import type { CliCommand } from "./command.ts";

export const approve: CliCommand = {
  declare: (command) =>
    command
      .summary("answer an approval, whatever the choice")
      .argument("<execution_id|task_id>")
      .argument("[node]", "the approval that waits; needless with the id of a task")
      .requiredOption("--choice <choice>", "approved, rejected, or what else the approval offers")
      .option("--data <file.json>", "what its form asks for")
      .option("--as <who>", "who answers; absent: the user of this machine")
      .option("--json", "print one JSON object"),

  async run([id = "", node], { choice, data, as: who, json }) {
    const name = taskName(id, node);
    const text = typeof data === "string" ? await readJsonFile(data, "data") : undefined;
    const answer = {
      choice: String(choice),
      ...(text !== undefined && { data: text }),
      by: typeof who === "string" ? who : userInfo().username,
      from: `nova approve on ${hostname()}`,
    };
    const server = await serverHere();
    if (server) {
      const { answerOnServer } = await import("../remote/answer.ts");
      const answered = await answerOnServer(server, name, answer);
      print(json ? JSON.stringify({ ...answered, by: answer.by }) : lineOf(answered), json);
      return exitCodes.completed;
    }
    const { answerTask } = await import("@nova/engine");
    await withDrivingCloud(async ({ ports }) => {
      const answered = await answerTask(ports, { ...name, ...answer });
      const result = resultOf(answered, answer);
      print(json ? JSON.stringify(result) : lineOf(result), json);
      return [answered.task.execution];
    });
    return exitCodes.completed;
  },
};

function resultOf({ task, at, sent }: Answered, { choice, by }: Answer) {
  return { task_id: task.id, execution_id: task.execution, node: task.node, choice, by, at, sent };
}

function lineOf({ node, execution_id, choice, sent }: Omit<ReturnType<typeof resultOf>, "by">): string {
  const later = sent ? "" : "; Step Functions could not be told yet, the sweeper will";
  return `${node} of ${execution_id}: ${choice}${later}`;
}

function taskName(id: string, node: string | undefined): TaskName {
  if (node !== undefined) return { execution: id, node };
  if (id.startsWith("task_")) return { task: id };
  throw new InvalidInput("name the node that waits too, nova approve <execution_id> <node> - nova tasks lists both");
}
