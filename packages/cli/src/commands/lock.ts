import { userInfo } from "node:os";
import { readCount } from "../api/first-items.ts";
import { InvalidInput } from "../errors.ts";
import { command } from "./command.ts";

export const lock = command({
  summary: "store the code that models wrote with the workflow, and report its state",
  takes: {
    "<folder|approve>": "folder with workflow.json or workflow.ts; or the word approve, then folder and node",
    "[folder|node]": "with --prove: the only node to prove",
    "[node]": "with approve: the node whose code is approved",
    "--from <execution_id>": "lock the code of this execution; absent: the latest code",
    "--check": "list nodes that are not locked or have changed; exit 1 if there is one",
    "--prove <n>": "run the code over the last n recorded inputs, without network and credentials",
    "--costs": "print the cost of writing the code, and its savings",
    "--as <who>": "with approve: the name of the person who approves; absent: the user of this machine",
  },

  async run([path = "", second, third], { from, check, prove, costs, as: by = userInfo().username }) {
    const modes = await import("../lock/modes.ts");
    if (path === "approve") {
      if (second !== undefined && third !== undefined) return modes.approveNode(second, third, by);
      throw new InvalidInput("nova lock approve needs a folder and a node: nova lock approve <folder> <node>");
    }
    const [one, two] = Object.entries({ check, costs, prove }).flatMap(([name, asked]) => (asked ? [name] : []));
    if (two !== undefined) throw new InvalidInput(`--${one} and --${two} exclude each other - leave one out`);
    if (check) return modes.checkFolder(path);
    if (costs) return modes.showCosts(path);
    if (prove === undefined) return modes.lockFolder(path, from);
    const { proveFolder } = await import("../lock/prove-folder.ts");
    return proveFolder({ path, from, node: second, count: readCount("--prove", prove) });
  },
});
