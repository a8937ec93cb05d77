import { openCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const local: CliCommand = {
  declare: (command) =>
    command
      .summary("open the local cloud, print the variables by which clients find it, and stay")
      .option("--json", "print one JSON object"),

  async run(_, { json }) {
    const interrupt = new Interrupt();
    const cloud = await openCloud();
    const { environment } = cloud;
    if (json) print(JSON.stringify(environment), true);
    else
      print(
        Object.entries(environment)
          .map(([name, value]) => `${name}=${value}`)
          .join("\n"),
      );
    const others = cloud.role === "guest" ? "another process's cloud" : "the local cloud";
    printError(styled("dim", `${others} of ${cloud.dataDir}; Ctrl-C ends this`));
    const lost = await Promise.race([interrupt.wish(), cloud.ending.then(() => true)]);
    await cloud.close({ interrupt: true });
    if (lost) printError("nova: the process that owned the data folder has ended - start nova local again");
    return lost ? exitCodes.failed : exitCodes.completed;
  },
};
