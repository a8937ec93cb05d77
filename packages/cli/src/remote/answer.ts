import type { NovaClient, Schemas } from "@nova/client";
import { type Answer, RawJson, type TaskName } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** Answers an approval by its id, or by execution and node. Throws `ApiProblem`, `InvalidInput`. */
export async function answerOnServer(
  server: NovaClient,
  name: TaskName,
  { choice, data, by }: Pick<Answer, "choice" | "data" | "by">,
): Promise<Schemas["AnsweredTask"]> {
  const id = "task" in name ? name.task : await taskAt(server, name);
  return server.tasks.answer(id, { choice, by, ...(data !== undefined && { data: new RawJson(data) }) });
}

async function taskAt(server: NovaClient, { execution, node }: { execution: string; node: string }): Promise<string> {
  const open: string[] = [];
  for await (const task of server.tasks.list()) {
    if (task.execution_id === execution && task.node === node) open.push(task.task_id);
  }
  const [id, second] = open;
  if (id !== undefined && second === undefined) return id;
  const what = id === undefined ? "does not wait for an answer" : "waits for several answers";
  throw new InvalidInput(`"${node}" of ${execution} ${what} - nova tasks lists what waits, with its id`);
}
