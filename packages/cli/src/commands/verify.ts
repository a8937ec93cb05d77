import type { ItemOf } from "@nova/client";
import { defined } from "@nova/workflow/defined";
import { askApi } from "../api/ask.ts";
import { nullIfMissing } from "../api/client.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import { command } from "./command.ts";

type Verified = ItemOf<"/verifications">;

const meanings: Record<Verified["state"], string> = {
  open: "every entry so far is valid; the execution is not closed and signed yet",
  anchored: "closed; every entry and the signature over the last one are valid",
  broken: "the chain is not valid",
};

export const verify = command({
  summary: "check that the chain of work of an execution, or of many, is complete and unchanged",
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
      throw new InvalidInput("nova verify checks one execution or many - leave out the id or the options");
    if (isMany) return verifyMany({ workflow, client, label }, json === true);
    if (id === undefined) throw new InvalidInput("nova verify needs an execution - name one, or add --all");
    return verifyOne(id);
  },
});

async function verifyOne(id: string) {
  const found = await askApi((nova) => nova.executions.verify(id));
  const { state, links, erased, source_gone, problem } = found;
  return {
    json: { execution_id: id, state, links, erased, source_gone, problem },
    text: [
      `${styled(problem ? "red" : "green", state)} ${links} entries: ${meanings[state]}`,
      ...(problem ? [`${placeText(problem)}: ${problem.message}`] : []),
      ...source_gone.map((source) => styled("dim", `source gone: ${source}, whose outcomes it reuses`)),
      ...erased.map((lost) => styled("dim", `${placeText(lost)}: ${lost.content} was erased`)),
    ],
    code: codeFor(problem !== null),
  };
}

/** The number of runs that one request verifies. More could take longer than 30 seconds, the limit of API Gateway. */
const runsPerRequest = 20;

/** Verifies runs page by page and prints each broken run as it finds it, so memory holds only broken runs. */
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
  if (runs === 0 && query.workflow !== undefined) await demandWorkflow(query.workflow);
  return {
    json: { runs, ...counts, items: broken },
    text: [
      `${runs} ${runs === 1 ? "run" : "runs"}: ${styled(counts.broken > 0 ? "red" : "green", `${anchored} anchored, ${open} open, ${counts.broken} broken`)}`,
    ],
    code: codeFor(counts.broken > 0),
  };
}

/**
 * Throws `UnknownWorkflow` for an id that does not exist. A misspelled id selects no runs, which would look like a
 * successful check.
 */
async function demandWorkflow(id: string): Promise<void> {
  const found = await askApi((nova) => nullIfMissing(nova.workflows.get(id)));
  if (!found) throw new UnknownWorkflow(`there is no workflow "${id}" - nova versions lists them`);
}

class UnknownWorkflow extends Error {
  override name = "UnknownWorkflow";
}

function codeFor(isBroken: boolean) {
  return isBroken ? exitCodes.failed : exitCodes.completed;
}

type Problem = NonNullable<Verified["problem"]>;

function lineOf(problem: Problem): string {
  return `${placeText(problem)}: ${problem.message}`;
}

function placeText({ seq, scope, execution }: { seq: number; scope?: string; execution?: string }): string {
  const link = scope === undefined ? `entry ${seq}` : `entry ${seq} of branch ${scope}`;
  return execution === undefined ? link : `${link} of ${execution}`;
}
