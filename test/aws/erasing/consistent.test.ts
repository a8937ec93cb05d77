import { expect, it } from "vitest";
import { eraseContents } from "../../../packages/aws/src/erasing/erase-contents.ts";
import { eraseRest } from "../../../packages/aws/src/erasing/erase-rest.ts";
import { eraseTraces } from "../../../packages/aws/src/erasing/erase-traces.ts";

/** A table that is empty; keeps what was asked. */
function watched() {
  const asked: { name: string; input: object }[] = [];
  const send = async (command: { input: object }) => {
    asked.push({ name: command.constructor.name, input: command.input });
    return {};
  };
  return { asked, connection: { client: { send } as never, table: "nova" } };
}

type Connection = ReturnType<typeof watched>["connection"];

it.each<[string, (connection: Connection) => Promise<unknown>]>([
  ["the contents of a run", (to) => eraseContents(to, { execution: "exec_1", scope: "" })],
  ["what a run waited for", (to) => eraseTraces(to, "exec_1")],
  ["everything else of a client", (to) => eraseRest(to, "acme", undefined)],
])("reads %s as it is, not as it was a moment ago", async (_what, erase) => {
  const { asked, connection } = watched();
  await erase(connection);
  const reads = asked.filter(({ name }) => ["QueryCommand", "ScanCommand"].includes(name));
  expect(reads.map(({ input }) => "ConsistentRead" in input && input.ConsistentRead)).toEqual([true]);
});
