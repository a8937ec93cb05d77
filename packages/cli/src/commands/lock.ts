import { userInfo } from "node:os";
import { InvalidInput } from "../errors.ts";
import type { CliCommand } from "./command.ts";

export const lock: CliCommand = {
  declare: (command) =>
    command
      .summary("keep the code that models wrote beside the workflow, and say what became of it")
      .argument(
        "<folder|approve>",
        "folder with workflow.json or workflow.ts; or the word approve, then folder and node",
      )
      .argument("[folder|node]", "with --prove: the one node to prove")
      .argument("[node]", "with approve: the node whose code is approved")
      .option("--from <execution_id>", "take the code that this execution ran; absent: the latest ones")
      .option("--check", "say what is not locked, and what has changed since; exit 1 if anything is")
      .option("--prove <n>", "run the code over the last n recorded inputs, without network and credentials")
      .option("--costs", "say what the code has cost to write, and what it saves")
      .option("--as <who>", "with approve: who approves; absent: the user of this machine")
      .option("--json", "print one JSON object"),

  async run([first = "", second, third], options) {
    const { check, costs, prove, json } = options;
    const from = typeof options.from === "string" ? options.from : undefined;
    const shown = { path: first, json: json === true };
    if (first === "approve") return approve(second, third, options.as, shown.json);
    refuseTwo(options);
    if (check) return (await import("../lock/modes/check.ts")).checkFolder(shown);
    if (costs) return (await import("../lock/modes/costs.ts")).showCosts(shown);
    if (prove === undefined) return (await import("../lock/modes/lock.ts")).lockFolder({ ...shown, from });
    const { proveFolder } = await import("../lock/modes/prove.ts");
    return proveFolder({ ...shown, from, node: second, count: countOf(String(prove)) });
  },
};

async function approve(path: string | undefined, node: string | undefined, who: unknown, json: boolean) {
  if (path === undefined || node === undefined) {
    throw new InvalidInput("nova lock approve needs a folder and a node: nova lock approve <folder> <node>");
  }
  const { approveNode } = await import("../lock/modes/approve.ts");
  return approveNode({ path, node, by: typeof who === "string" ? who : userInfo().username, json });
}

function refuseTwo(options: Record<string, unknown>): void {
  const [one, two] = ["check", "costs", "prove"].filter((name) => options[name] !== undefined);
  if (two !== undefined) throw new InvalidInput(`--${one} and --${two} do not go together - leave one of them out`);
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidInput(`--prove ${text} is not a whole number above 0`);
}
