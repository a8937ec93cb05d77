import { shellWord } from "@nova/workflow/shell-word";
import { readCount } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { shorten, tableLines } from "../output/text.ts";
import type { CompiledAgent } from "../replay/compile-agent.ts";
import { actionOf, command } from "./command.ts";

export const agent = command({
  summary: "let a model write code that calls the tools of an agent, and try it on recorded runs",
  takes: {
    "<compile>": { says: "what to do", choices: ["compile"] },
    "<node>": "the agent",
    "--folder <path>": { says: "the folder of its workflow", absent: "." },
    "--runs <n>": { says: "how many recorded runs of the agent the code is tried on", absent: "10" },
    "--write": "also add the node with the code to the workflow, and lead the edges of the agent to it",
    "--model <id>": "the model that writes the code; absent: the model of the workflow",
  },
  json: "print one JSON object; exit 1 if the code differs or fails in a run",
  async run([asked, node], { folder, runs, model, write }) {
    actionOf("agent", ["compile"], asked);
    if (node === undefined) throw new InvalidInput("nova agent compile needs the id of an agent");
    const { compileAgent } = await import("../replay/compile-agent.ts");
    return compiledOutput(await compileAgent(node, { folder, count: readCount("--runs", runs), model, places: write }));
  },
});

const listText = (texts: readonly string[]) => new Intl.ListFormat("en-GB").format(texts);

/**
 * Builds the output of `nova agent compile`. If the code fails in a run, the agent answers instead, so the run costs as
 * many tokens as without the code.
 */
function compiledOutput({ node, file, code, namedBy, placed, runs, written }: CompiledAgent): CommandOutput {
  const count = (wanted: string) => runs.filter(({ outcome }) => outcome === wanted).length;
  const counts = { same: count("same"), differs: count("differs"), fails: count("fails") };
  const before = runs.reduce((sum, { tokens_before }) => sum + tokens_before, 0);
  const after = runs.reduce((sum, { tokens_after }) => sum + tokens_after, 0);
  const rows = runs.map(({ execution_id, calls, outcome, tokens_before, tokens_after, why }) => [
    execution_id,
    ...[calls, outcome, tokens_before, tokens_after].map(String),
    why === null ? "" : shorten(why),
  ]);
  const total = `same ${counts.same}, differs ${counts.differs}, fails ${counts.fails}; tokens ${before} before, ${after} after`;
  const review = `${shellWord(file)} is written, for ${written.tokens} tokens. Review it`;
  const named = Object.entries(namedBy).flatMap(([field, ids]) => ids.map((id) => `the ${field} of "${id}"`));
  const renamed = listText([`the edges of "${node}"`, ...named]);
  const byHand = [
    `${review}, then add this node, and name it in place of "${node}" in ${renamed}:`,
    JSON.stringify(code),
    ...(code.onError === undefined ? [] : [`Remove the onError of "${node}", because the node above has it now.`]),
  ];
  return {
    json: { node, file, ...counts, tokens_before: before, tokens_after: after, written, placed, runs },
    text: [
      ...tableLines(["run", "calls", "outcome", "tokens before", "after", ""], rows),
      styled(counts.same === runs.length ? "green" : "yellow", total),
      ...(placed && "file" in placed
        ? [`${review}. ${shellWord(placed.file)} has the node "${code.id}" now, to which the edges of "${node}" lead.`]
        : [...(placed ? [styled("yellow", `the workflow is not changed: ${placed.problem}`)] : []), ...byHand]),
    ],
    code: counts.same === runs.length ? exitCodes.completed : exitCodes.failed,
  };
}
