import { openCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { printError, printOutput, styled } from "../output/terminal.ts";
import { command } from "./command.ts";

export const local = command({
  summary: "open the local cloud, print the variables for its clients, and stay",
  async run(_, { json }) {
    const interrupt = new Interrupt();
    const cloud = await openCloud();
    const text = Object.entries(cloud.environment).map(([name, value]) => `${name}=${value}`);
    printOutput({ json: cloud.environment, text }, json);
    const others = cloud.role === "guest" ? "another process's cloud" : "the local cloud";
    printError(styled("dim", `${others} of ${cloud.dataDir}; Ctrl-C ends this`));
    const lost = await Promise.race([interrupt.requested(), cloud.ending.then(() => true)]);
    await cloud.close({ interrupt: true });
    if (lost) printError("nova: the process that owned the data folder has ended - start nova local again");
    return lost ? exitCodes.failed : exitCodes.completed;
  },
});
