import type { Verification } from "@nova/engine";
import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

/** A server of an earlier release says `complete` of a chain that nobody signed. */
type State = Verification["state"] | "complete";

const meanings: Record<State, string> = {
  open: "every link so far holds; the execution is not closed yet, and nothing signs it before",
  complete: "closed, and not signed: anybody who can write the table may have made it",
  anchored: "closed, every link holds, and the signature over the last one is valid",
  broken: "the chain does not hold",
};

function placeText({ seq, scope, execution }: { seq: number; scope?: string; execution?: string }): string {
  const link = scope === undefined ? `link ${seq}` : `link ${seq} of branch ${scope}`;
  return execution === undefined ? link : `${link} of ${execution}`;
}

export const verify: CliCommand = {
  declare: (command) =>
    command
      .summary("check that the chain of work of an execution is whole and unchanged")
      .argument("<execution_id>")
      .option("--json", "print one JSON object"),

  async run([id = ""], { json }) {
    const { state, links, erased, problem } = await askApi((nova) => nova.executions.verify(id));
    if (json) print(JSON.stringify({ execution_id: id, state, links, erased, problem }), true);
    else {
      print(`${styled(problem ? "red" : "green", state)} ${links} links: ${meanings[state]}`);
      if (problem) print(`${placeText(problem)}: ${problem.message}`);
      for (const lost of erased) print(styled("dim", `${placeText(lost)}: ${lost.content} was erased`));
    }
    return state === "open" || state === "anchored" ? exitCodes.completed : exitCodes.failed;
  },
};
