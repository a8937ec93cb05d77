import type { NovaClient } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const rollback: CliCommand = {
  declare: (command) =>
    command
      .summary("have new runs of a workflow use the version that they used before")
      .argument("<workflow>", "its id")
      .option("--json", "print one JSON object"),

  async run([workflow = ""], { json }) {
    const { from, to } = await askApi((server) => rollBack(server, workflow));
    const result = { id: workflow, active_version: to, previous_version: from };
    print(json ? JSON.stringify(result) : `${workflow}: new runs use version ${to}, no longer ${from}`, json);
    return exitCodes.completed;
  },
};

/** Throws `InvalidInput` where new runs have used no other version before. */
async function rollBack(server: NovaClient, workflow: string): Promise<{ from: number | null; to: number }> {
  const { active_version: from, previous_version: to } = await server.workflows.get(workflow);
  if (to === null) throw new InvalidInput(noWayBack(workflow, from));
  await server.workflows.activate(workflow, to);
  return { from, to };
}

function noWayBack(workflow: string, active: number | null): string {
  const wayOut = `choose one of nova versions ${workflow} with nova activate`;
  const first = active === null ? "no version is active" : `new runs used none before version ${active}`;
  return `"${workflow}" has no earlier version to go back to: ${first} - ${wayOut}`;
}
