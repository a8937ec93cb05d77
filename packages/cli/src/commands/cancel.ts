import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { print } from "../output/terminal.ts";
import { statusText } from "../output/text.ts";
import type { CliCommand } from "./command.ts";

export const cancel: CliCommand = {
  declare: (command) =>
    command
      .summary("stop an execution; of one that is over it says how it ended")
      .argument("<execution_id>")
      .option("--json", "print one JSON object"),

  async run([id = ""], { json }) {
    const { status } = await askApi((server) => server.executions.cancel(id));
    print(json ? JSON.stringify({ execution_id: id, status }) : `${id}: ${statusText(status)}`, json);
    return exitCodes.completed;
  },
};
