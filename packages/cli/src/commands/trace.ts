import { exitCodes } from "../errors.ts";
import { inPlace } from "../place.ts";
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
    const reading = { full: full === true };
    const found = await inPlace({
      local: ({ ports }) => readTrace(ports, id, reading),
      remote: async (server) => (await import("../remote/records.ts")).readServersTrace(server, id, reading),
    });
    console.log(json ? renderJson(traceResult(found)) : traceLines(found).join("\n"));
    return exitCodes.completed;
  },
};
