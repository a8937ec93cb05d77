import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ItemOf, NovaClient } from "@nova/client";
import { defined } from "@nova/workflow/defined";
import { askApi } from "../api/ask.ts";
import { nullIfMissing } from "../api/client.ts";
import { exitCodes, InvalidInput, throwInvalid } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { print, printStatus, styled } from "../output/terminal.ts";
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
    "--offline <file>": "a proof file (docs/proof.md), without network and data folder",
    "--keys <file>": "with --offline: the operator's /.well-known/nova-keys.json",
    "--tsa-ca <file>": "with --offline: the certificates of the time-stamp authority (PEM)",
  },
  async run([id], { all, workflow, client, label, offline, keys, tsaCa, json }) {
    if (offline !== undefined) {
      if ([id, all, workflow, client, label].some((one) => one !== undefined))
        throw new InvalidInput("nova verify --offline checks one file - leave out the id and the other options");
      return verifyOffline(offline, keys, tsaCa);
    }
    if (keys !== undefined || tsaCa !== undefined)
      throw new InvalidInput("--keys and --tsa-ca belong to a proof file - add --offline <file>");
    const isMany = all === true || workflow !== undefined || client !== undefined || label !== undefined;
    if (id !== undefined && isMany)
      throw new InvalidInput("nova verify checks one execution or many - leave out the id or the options");
    if (isMany) return verifyMany({ workflow, client, label }, json === true);
    if (id === undefined) throw new InvalidInput("nova verify needs an execution - name one, or add --all");
    if (!id.startsWith("exec_") && existsSync(id))
      throw new InvalidInput(`"${id}" is a file - nova verify --offline ${id} checks a proof file`);
    return verifyOne(id);
  },
});

/** Checks a proof file. It opens no cloud, so it works in an empty folder. */
async function verifyOffline(file: string, keysFile: string | undefined, caFile: string | undefined) {
  const [{ verifyProof }, { describeVerdict, listRemarks }] = await Promise.all([
    import("@nova/verify"),
    import("@nova/verify/describe"),
  ]);
  const read = (path: string) =>
    readFile(path).catch(throwInvalid(`there is no file ${path} that nova can read - check the path`));
  const proof = await read(file);
  const keys = keysFile === undefined ? undefined : await read(keysFile);
  const tsaCa = caFile === undefined ? undefined : await read(caFile);
  const verdict = await verifyProof(proof, { keys, tsaCa }).catch((cause) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new InvalidInput(`a trusted file cannot be used: ${cause.message} - check --keys and --tsa-ca`, { cause });
  });
  const isBroken = verdict.state === "broken";
  return {
    json: verdict,
    text: [
      styled(isBroken ? "red" : "green", describeVerdict(verdict)),
      ...listRemarks(verdict).map((remark) => styled("dim", remark)),
    ],
    code: codeFor(isBroken),
  };
}

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

/**
 * The number of runs that one request verifies. A request with more runs could exceed the limit of API Gateway, 30
 * seconds.
 */
const runsPerRequest = 20;

type RunQuery = Record<"workflow" | "client" | "label", string | undefined>;

/**
 * Verifies runs page by page, and prints each broken run at once. Memory holds only the broken runs. After Ctrl-C, the
 * function reports the runs that it has verified so far.
 */
async function verifyMany(query: RunQuery, isJson: boolean) {
  const counts = { anchored: 0, open: 0, broken: 0 };
  const broken: Pick<Verified, "execution_id" | "problem">[] = [];
  const interrupt = new Interrupt();
  const line = new ProgressLine();
  const count = () => counts.anchored + counts.open + counts.broken;
  await askApi(async (nova) => {
    const counting = line.isShown ? countRuns(nova, query, interrupt) : undefined;
    for await (const { execution_id, state, problem } of nova.list("/verifications", {
      query: defined({ ...query, limit: runsPerRequest }),
    })) {
      counts[state] += 1;
      if (state === "broken") {
        broken.push({ execution_id, problem });
        line.clear();
        if (!isJson)
          print(
            `${styled("red", state)} ${execution_id} ${problem ? `${placeText(problem)}: ${problem.message}` : ""}`,
          );
      }
      line.show({ done: count(), total: counting?.total, broken: counts.broken });
      if (interrupt.wasRequested) break;
    }
    if (counting) counting.isStopped = true;
    line.clear();
  });
  const { anchored, open } = counts;
  const runs = count();
  const isCut = interrupt.wasRequested;
  if (runs === 0 && !isCut && query.workflow !== undefined) await demandWorkflow(query.workflow);
  const found = `${anchored} anchored, ${open} open, ${counts.broken} broken`;
  const what = `${runs} ${runs === 1 ? "run" : "runs"}${isCut ? " until the interrupt" : ""}`;
  return {
    json: { runs, ...counts, items: broken, ...(isCut && { interrupted: true }) },
    text: `${what}: ${styled(counts.broken > 0 ? "red" : "green", found)}`,
    code: isCut && counts.broken === 0 ? exitCodes.interrupted : codeFor(counts.broken > 0),
  };
}

/** The number of runs that one request for counting reads. */
const runsPerCount = 200;

/**
 * Counts the runs while the command verifies other runs. `total` is undefined until all runs are counted. If a request
 * of the count fails, `total` stays undefined.
 */
function countRuns(nova: NovaClient, query: RunQuery, interrupt: Interrupt) {
  const counting: { total?: number; isStopped?: true } = {};
  const countAll = async () => {
    let total = 0;
    for await (const _ of nova.list("/executions", { query: defined({ ...query, limit: runsPerCount }) })) {
      if (counting.isStopped || interrupt.wasRequested) return;
      total += 1;
    }
    counting.total = total;
  };
  // An error of the count is ignored, because the verification then fails, too, and reports the error.
  countAll().catch(() => undefined);
  return counting;
}

/**
 * Throws `UnknownWorkflow` if no workflow has this id. Without this error, a misspelled id would select no runs, and
 * the check would look successful.
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

function placeText({ seq, scope, execution }: { seq: number; scope?: string; execution?: string }): string {
  const link = scope === undefined ? `entry ${seq}` : `entry ${seq} of branch ${scope}`;
  return execution === undefined ? link : `${link} of ${execution}`;
}

/**
 * The number of runs that the command has verified so far. `total` is undefined as long as the command does not know
 * the number of all runs.
 */
export interface Progress {
  done: number;
  total: number | undefined;
  broken: number;
}

const barWidth = 24;
/** Milliseconds between two changes of the progress line. */
const pauseMs = 100;

/**
 * A line on standard error that shows how many runs were checked. Without a terminal there is no line, so that a file or
 * another program gets only results.
 */
class ProgressLine {
  /** Whether standard error is a terminal and shows the line. If not, the caller need not count the runs. */
  readonly isShown = process.stderr.isTTY === true;
  readonly #startedMs = performance.now();
  #changedMs = Number.NEGATIVE_INFINITY;

  show(progress: Progress): void {
    const nowMs = performance.now();
    if (!this.isShown || nowMs - this.#changedMs < pauseMs) return;
    this.#changedMs = nowMs;
    printStatus(progressText(progress, nowMs - this.#startedMs));
  }

  /** Removes the line. The next `show` writes it again. */
  clear(): void {
    if (!this.isShown) return;
    this.#changedMs = Number.NEGATIVE_INFINITY;
    printStatus("");
  }
}

/**
 * Formats the progress: `[#####-------------------] 2,000 of 10,000 runs, 250/s, 0 broken`. The text has no bar as long
 * as the total is unknown.
 */
export function progressText({ done, total, broken }: Progress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? Math.round((1000 * done) / elapsedMs) : 0;
  const counts = [`${rate.toLocaleString("en")}/s`, `${broken.toLocaleString("en")} broken`].join(", ");
  if (total === undefined || total < done) return `${done.toLocaleString("en")} runs, ${counts}`;
  const filled = total === 0 ? barWidth : Math.floor((barWidth * done) / total);
  const bar = `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
  return `${bar} ${done.toLocaleString("en")} of ${total.toLocaleString("en")} runs, ${counts}`;
}
