import { defined } from "@nova/workflow";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { ExecutionNotFound, executionOf } from "../protocol/record.ts";
import { type Erased, Erasures, unreadableProblem } from "./content-check.ts";
import {
  beginningMisfit,
  endMisfit,
  isUnderWay,
  labelsMisfit,
  restartsMisfit,
  signatureMisfit,
  sourceMisfit,
} from "./misfit.ts";
import { type Problem, ScopeCheck, type ScopeResult } from "./scope-check.ts";

/**
 * `open`: the run has not ended, every link so far holds, and no signature covers them yet. `anchored`: the run is
 * closed, every link holds, the signature over the last one is valid, and the record of the run agrees. `broken`:
 * anything else.
 */
export interface Verification {
  state: "open" | "anchored" | "broken";
  /** The number of sound links, including those in branches and in executions that nodes ran. */
  links: number;
  /** Contents that were erased on request; their digests still hold the chain together. */
  erased: Erased[];
  /** Source executions of reused outcomes that no longer exist or were erased, so the outcomes cannot be compared. */
  sourceGone: string[];
  /**
   * The first faulty link, or link with a faulty content, and its fault. `scope` is set in a branch, `execution` in an
   * execution that a node ran, `blob` (a SHA-256) and `key` (of the context) for a faulty blob.
   */
  problem?: Problem;
}

type Sound = Exclude<ScopeResult, { problem: Problem }>;

/** Checks the chain, all contents that it names, and the record of the run. Throws `ExecutionNotFound`. */
export async function verifyExecution(ports: Ports, id: string): Promise<Verification> {
  const known = await knownOf(ports, id);
  const erasures = new Erasures(ports);
  const check = new ScopeCheck(ports, id, erasures);
  const walked = await check.walk(id, "");
  const verdict = "problem" in walked ? walked.problem : await verdictOn(ports, known, walked, erasures);
  const problem = typeof verdict === "string" ? undefined : verdict;
  const state = typeof verdict === "string" ? verdict : "broken";
  const { links, contents, gone } = check;
  return { state, links, erased: contents.erased, sourceGone: [...gone], ...defined({ problem }) };
}

async function knownOf(ports: Ports, id: string): Promise<Known | Problem> {
  try {
    const record = await executionOf(ports, id);
    return { record, isDone: isUnderWay(record) && (await hasSucceeded(ports, record)) };
  } catch (error) {
    if (error instanceof ExecutionNotFound) throw error;
    return { seq: 0, message: unreadableProblem(error).message.replace(/^it/, "the record of the run") };
  }
}

/** A second proof for unsigned runs: Step Functions succeeds only after the close entry. */
async function hasSucceeded({ stateMachines }: Ports, { stateMachineArn, id }: Execution): Promise<boolean> {
  const run = await stateMachines.describe(stateMachineArn, id).catch(() => null);
  return run?.status === "succeeded";
}

/** Facts about the run that were read before its chain. */
interface Known {
  record: Execution;
  /** Its state machine has completed. */
  isDone: boolean;
}

type Verdict = "open" | "anchored" | Problem;

/** The verdict on a chain that is sound by itself. */
async function verdictOn(ports: Ports, known: Known | Problem, walked: Sound, erasures: Erasures): Promise<Verdict> {
  if ("message" in known) return known;
  try {
    return await verdictOf(ports, known, walked, erasures);
  } catch (error) {
    return { seq: walked.tip?.head.seq ?? 0, ...unreadableProblem(error) };
  }
}

async function verdictOf(ports: Ports, known: Known, { tip, first }: Sound, erasures: Erasures): Promise<Verdict> {
  if (!tip || !first) return { seq: 0, message: "the chain has no link: link 0 was dropped" };
  const { seq, close } = tip.head;
  // If the run has ended meanwhile, the record knows of the end, which the chain as it was read may lack.
  const record = close ? await executionOf(ports, known.record.id) : known.record;
  const beginning =
    beginningMisfit(record, first) ??
    (await restartsMisfit(ports, record.id)) ??
    (await sourceMisfit(ports, record)) ??
    (await labelsMisfit(ports, record, erasures));
  if (beginning !== undefined) return { seq: 0, message: beginning };
  if (!close && known.isDone) return { seq: seq + 1, message: `${closeDropped}: Step Functions has completed the run` };
  if (!close)
    return isUnderWay(record)
      ? "open"
      : { seq: seq + 1, message: `${closeDropped}: the record says that the run has ended` };
  // If a closer died before it updated the record, another closer follows and updates it.
  const lags = isUnderWay(record);
  if (!lags && record.tip !== tip.entry.hash)
    return { seq, message: "the close entry is not the one that the record of the run knows" };
  const message =
    (await signatureMisfit(ports, tip.entry)) ??
    (lags ? undefined : await endMisfit(ports, record, first, tip, erasures));
  if (message !== undefined) return { seq, message };
  return lags ? "open" : "anchored";
}

const closeDropped = "the close entry was dropped";
