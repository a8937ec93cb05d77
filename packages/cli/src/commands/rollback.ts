import type { NovaClient } from "@nova/client";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import { askApi } from "../place.ts";
import type { CliCommand } from "./command.ts";

export const rollback: CliCommand = {
  declare: (command) =>
    command
      .summary("make the version before the active one what new runs of a workflow use")
      .argument("<workflow>", "its id")
      .option("--json", "print one JSON object"),

  async run([workflow = ""], { json }) {
    const { from, to } = await askApi((server) => rollBack(server, workflow));
    const result = { id: workflow, active_version: to, previous_version: from };
    print(json ? JSON.stringify(result) : `${workflow}: new runs use version ${to}, no longer ${from}`, json);
    return exitCodes.completed;
  },
};

/** One that could not be published is passed over. Throws `InvalidInput` where there is none before. */
async function rollBack(server: NovaClient, workflow: string): Promise<{ from: number; to: number }> {
  let from: number | undefined;
  for await (const { version, active, status } of server.workflows.versions(workflow)) {
    if (active) from = version;
    else if (from !== undefined && status === "ready") {
      await server.workflows.activate(workflow, version);
      return { from, to: version };
    }
  }
  throw new InvalidInput(`"${workflow}" has no earlier version to go back to - nova versions ${workflow} lists them`);
}
