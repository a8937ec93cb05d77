import { userInfo } from "node:os";
import { readCount } from "../api/first-items.ts";
import { InvalidInput } from "../errors.ts";
import { command } from "./command.ts";

export const lock = command({
  summary: "keep the code that models wrote beside the workflow, and say what became of it",
  takes: {
    "<folder|approve>": "folder with workflow.json or workflow.ts; or the word approve, then folder and node",
    "[folder|node]": "with --prove: the one node to prove",
    "[node]": "with approve: the node whose code is approved",
    "--from <execution_id>": "take the code that this execution ran; absent: the latest ones",
    "--check": "say what is not locked, and what has changed since; exit 1 if anything is",
    "--prove <n>": "run the code over the last n recorded inputs, without network and credentials",
    "--costs": "say what the code has cost to write, and what it saves",
    "--as <who>": "with approve: who approves; absent: the user of this machine",
  },

  async run([path = "", second, third], { from, check, prove, costs, as: by = userInfo().username }) {
    const modes = await import("../lock/modes.ts");
    if (path === "approve") {
      if (second !== undefined && third !== undefined) return modes.approveNode(second, third, by);
      throw new InvalidInput("nova lock approve needs a folder and a node: nova lock approve <folder> <node>");
    }
    const [one, two] = Object.entries({ check, costs, prove }).flatMap(([name, asked]) => (asked ? [name] : []));
    if (two !== undefined) throw new InvalidInput(`--${one} and --${two} do not go together - leave one of them out`);
    if (check) return modes.checkFolder(path);
    if (costs) return modes.showCosts(path);
    if (prove === undefined) return modes.lockFolder(path, from);
    const { proveFolder } = await import("../lock/prove-folder.ts");
    return proveFolder({ path, from, node: second, count: readCount("--prove", prove) });
  },
});
