import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const trace: CliCommand = {
  declare: (command) =>
    command
      .summary("show the chain of work of an execution")
      .argument("<execution_id>")
      .option("--full", "every visit by itself, with code, logs and what it set")
      .option("--json", "print one JSON object"),

  async run([id = ""], { full, json }) {
    const { asWritten, renderJson } = await import("@nova/engine");
    const { traceLines, traceResult } = await import("../output/trace.ts");
    const { readTrace } = await import("../api/recorded.ts");
    const found = asWritten(await askApi((nova) => readTrace(nova, id, { full: full === true })));
    print(json ? renderJson(traceResult(found)) : traceLines(found, full === true).join("\n"), json);
    return exitCodes.completed;
  },
};
