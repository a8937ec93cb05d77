import type { ItemOf } from "@nova/client";
import { defined } from "@nova/workflow/defined";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import { command } from "./command.ts";

type Verified = ItemOf<"/verifications">;

const meanings: Record<Verified["state"], string> = {
  open: "every link so far holds; the execution is not closed yet, and nothing signs it before",
  anchored: "closed, every link holds, and the signature over the last one is valid",
  broken: "the chain does not hold",
};

export const verify = command({
  summary: "check that the chain of work of an execution, or of many, is whole and unchanged",
  takes: {
    "[execution_id]": "",
    "--all": "every execution, the newest first",
    "--workflow <id>": "every execution of this workflow",
    "--client <slug>": "every execution of this client",
    "--label <name=value>": "every execution with this label, such as order=PO-10",
  },
  async run([id], { all, workflow, client, label, json }) {
    const isMany = all === true || workflow !== undefined || client !== undefined || label !== undefined;
    if (id !== undefined && isMany)
      throw new InvalidInput("nova verify checks one execution or many - leave out the id, or the options");
    if (isMany) return verifyMany({ workflow, client, label }, json === true);
    if (id === undefined) throw new InvalidInput("nova verify checks nothing - name an execution, or add --all");
    return verifyOne(id);
  },
});

async function verifyOne(id: string) {
  const found = await askApi((nova) => nova.executions.verify(id));
  const { state, links, erased, source_gone, problem } = found;
  return {
    json: { execution_id: id, state, links, erased, source_gone, problem },
    text: [
      `${styled(problem ? "red" : "green", state)} ${links} links: ${meanings[state]}`,
      ...(problem ? [`${placeText(problem)}: ${problem.message}`] : []),
      ...source_gone.map((source) => styled("dim", `source gone: ${source}, whose outcomes it took over`)),
      ...erased.map((lost) => styled("dim", `${placeText(lost)}: ${lost.content} was erased`)),
    ],
    code: exitCodeOf(problem !== null),
  };
}

/** API Gateway waits 30 seconds for an answer. */
const runsPerRequest = 20;

/** Reads page by page, and prints broken runs as they are found: only these stay in memory. */
async function verifyMany(query: Record<"workflow" | "client" | "label", string | undefined>, isJson: boolean) {
  const counts = { anchored: 0, open: 0, broken: 0 };
  const broken: Pick<Verified, "execution_id" | "problem">[] = [];
  await askApi(async (nova) => {
    for await (const { execution_id, state, problem } of nova.list("/verifications", {
      query: defined({ ...query, limit: runsPerRequest }),
    })) {
      counts[state] += 1;
      if (state !== "broken") continue;
      broken.push({ execution_id, problem });
      if (!isJson) print(`${styled("red", state)} ${execution_id} ${problem ? lineOf(problem) : ""}`);
    }
  });
  const { anchored, open } = counts;
  const runs = anchored + open + counts.broken;
  return {
    json: { runs, ...counts, items: broken },
    text: [
      `${runs} ${runs === 1 ? "run" : "runs"}: ${styled(counts.broken > 0 ? "red" : "green", `${anchored} anchored, ${open} open, ${counts.broken} broken`)}`,
    ],
    code: exitCodeOf(counts.broken > 0),
  };
}

function exitCodeOf(isBroken: boolean) {
  return isBroken ? exitCodes.failed : exitCodes.completed;
}

type Problem = NonNullable<Verified["problem"]>;

function lineOf(problem: Problem): string {
  return `${placeText(problem)}: ${problem.message}`;
}

function placeText({ seq, scope, execution }: { seq: number; scope?: string; execution?: string }): string {
  const link = scope === undefined ? `link ${seq}` : `link ${seq} of branch ${scope}`;
  return execution === undefined ? link : `${link} of ${execution}`;
}
