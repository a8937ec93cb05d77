import { askApi } from "../api/ask.ts";
import { command } from "./command.ts";

export const diff = command({
  summary: "compare two executions node by node: path, definition, code, changes of the context, cost and time",
  takes: { "<a>": "an execution", "<b>": "another one, or one that was restarted from it" },
  json: "print one JSON object with every node, also unchanged ones",
  async run([a = "", b = ""], { json }) {
    const { renderJson } = await import("@nova/engine");
    const { readDiff } = await import("../api/recorded.ts");
    const { diffLines } = await import("../output/diff.ts");
    const nodes = await askApi((nova) => readDiff(nova, a, b));
    return { json: json ? renderJson({ nodes }) : "", text: diffLines(nodes) };
  },
});
