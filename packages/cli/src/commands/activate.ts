import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { readVersion } from "../input/version.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const activate: CliCommand = {
  declare: (command) =>
    command
      .summary("make a version of a workflow what new runs use; runs that have begun stay on theirs")
      .argument("<workflow>", "its id")
      .argument("<version>", "as nova versions lists them")
      .option("--json", "print one JSON object"),

  async run([workflow = "", text = ""], { json }) {
    const version = readVersion(text);
    const activated = await askApi((server) => server.workflows.activate(workflow, version));
    print(json ? JSON.stringify(activated) : `${workflow}: new runs use version ${version}`, json);
    return exitCodes.completed;
  },
};
