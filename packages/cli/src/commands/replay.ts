import { command } from "./command.ts";

export const replay = command({
  summary: "run recorded code again on its recorded inputs, without network and credentials, and report differences",
  takes: {
    "<execution_id>": "",
    "--node <place>": "only this node: find, poll#2, each[3].find, billing/send; absent: all nodes without effects",
  },
  json: "print one JSON object; exit 1 if anything differs",
  async run([id = ""], { node }) {
    return (await import("../replay/replay.ts")).replayExecution(id, node);
  },
});
