import { withCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import type { CliCommand } from "./command.ts";

export const trace: CliCommand = {
  declare: (command) =>
    command
      .summary("show the chain of work of an execution")
      .argument("<execution_id>")
      .option("--full", "with contexts, code and logs")
      .option("--json", "print one JSON object"),

  async run([id = ""], { full, json }) {
    const { readTrace, renderJson } = await import("@nova/engine");
    const { traceLines, traceResult } = await import("../output/trace.ts");
    const found = await withCloud(({ ports }) => readTrace(ports, id, { full: full === true }));
    console.log(json ? renderJson(traceResult(found)) : traceLines(found).join("\n"));
    return exitCodes.completed;
  },
};
