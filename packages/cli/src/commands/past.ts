import { askApi } from "../api/ask.ts";
import { command } from "./command.ts";

export const diff = command({
  summary: "compare two executions node by node: path, definition, code, what they set, cost and time",
  takes: { "<a>": "an execution", "<b>": "another one, or one that was restarted from it" },
  json: "print one JSON object with every node, those that are the same included",
  async run([a = "", b = ""], { json }) {
    const { renderJson } = await import("@nova/engine");
    const { readDiff } = await import("../api/recorded.ts");
    const { diffLines } = await import("../output/diff.ts");
    const nodes = await askApi((nova) => readDiff(nova, a, b));
    return { json: json ? renderJson({ nodes }) : "", text: diffLines(nodes) };
  },
});

export const replay = command({
  summary: "run recorded code again on its recorded inputs, without network and credentials, and say what differs",
  takes: {
    "<execution_id>": "",
    "--node <place>":
      "this node alone: find, poll#2, each[3].find, billing/send; absent: all but those that have effects",
  },
  json: "print one JSON object; exit 1 where something differs",
  async run([id = ""], { node }) {
    return (await import("../replay/replay.ts")).replayExecution(id, node);
  },
});
