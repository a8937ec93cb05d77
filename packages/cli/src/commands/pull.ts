import { join } from "node:path";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import { styled } from "../output/terminal.ts";
import { command } from "./command.ts";

export const pull = command({
  summary: "make a folder to run an execution, or one node of it, again on this machine",
  takes: {
    "<execution_id>": "",
    "--node <id>": "with the context that this node received",
    "--into <folder>": "a new folder; absent: named after workflow and execution",
  },
  async run([execution = ""], { node, into }) {
    const { pullExecution } = await import("../pull/pull-execution.ts");
    const asked = { execution, node, folder: into };
    const { folder, secrets, ...pulled } = await askApi((nova) => pullExecution(nova, asked));
    const alone = node === undefined ? [] : ["--node", node];
    const settings = secrets.flatMap((key) => ["--set", `${key}=...`]);
    // Without --local a server would publish the old version as the latest.
    const words = ["nova", "run", folder, "--local", ...alone, "--context", join(folder, "context.json"), ...settings];
    const run = words.map(shellWord).join(" ");
    const what = `version ${pulled.version} of ${pulled.workflow} and its inputs`;
    return {
      json: { execution_id: execution, folder, ...pulled, secrets, run },
      text: [`${folder} has ${what}. Run it:`, styled("bold", `  ${run}`)],
    };
  },
});
