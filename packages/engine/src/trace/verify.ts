import { defined } from "@nova/workflow";
import { recoverFrom } from "../errors.ts";
import type { RootNote } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { isRootSigned, readRoot, TreeDamaged } from "../proof/root.ts";
import { ExecutionNotFound, executionOf } from "../protocol/record.ts";
import { sha256 } from "../sha256.ts";
import { createErasures, type Erased, type Erasures, unreadableProblem } from "./content-check.ts";
import {
  beginningMisfit,
  type Checked,
  endMisfit,
  isUnderWay,
  labelsMisfit,
  restartsMisfit,
  signatureMisfit,
  sourceMisfit,
} from "./misfit.ts";
import { type Problem, ScopeCheck, type ScopeResult } from "./scope-check.ts";

/**
 * The result of a verification. `open`: every entry is sound, but the run has not ended, so no signature covers the
 * entries yet. `anchored`: the run is closed, every entry is sound, the signature over the last entry is valid, and the
 * record of the run agrees. If a Merkle tree contains the run, the tree agrees too. `broken`: all other cases.
 */
export interface Verification {
  state: "open" | "anchored" | "broken";
  /** The number of sound entries, including entries in joined branches and in child executions. */
  links: number;
  /** Contents that were erased on request. The chain still has their digests. */
  erased: Erased[];
  /**
   * Executions whose outcomes this run reuses, but which no longer exist or were erased. NOVA cannot compare these
   * outcomes.
   */
  sourceGone: string[];
  /**
   * The first fault, and the entry that has this fault. `scope` is set for an entry in a branch, and `execution` for an
   * entry of a child execution. `blob` (a SHA-256) and `key` (of the context) are set if the fault is in a blob.
   */
  problem?: Problem;
}

type Sound = Exclude<ScopeResult, { problem: Problem }>;

/**
 * Checks the chain of a run, all contents that the chain names, and the record of the run. Throws `ExecutionNotFound`
 * if there is no such run.
 */
export async function verifyExecution(ports: Ports, id: string): Promise<Verification> {
  const known = await knownOf(ports, id);
  const erasures = createErasures(ports);
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

/**
 * Returns whether Step Functions says that the run succeeded. A run can succeed only after its close entry is written.
 * If the chain has no close entry, an attacker has removed it.
 */
async function hasSucceeded({ stateMachines }: Ports, { stateMachineArn, id }: Execution): Promise<boolean> {
  const run = await stateMachines.describe(stateMachineArn, id).catch(() => null);
  return run?.status === "succeeded";
}

/** Facts about the run. `verifyExecution` reads them before the chain. */
interface Known {
  record: Execution;
  /** True if the state machine succeeded although the record says that the run has not ended. */
  isDone: boolean;
}

type Verdict = "open" | "anchored" | Problem;

/** Compares a chain that has no fault of its own with the record of the run, and returns the verdict. */
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
  // The run may have ended after its record was read. Then the chain has a close entry, and the record must be read
  // again.
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
  // A process may have died between writing the close entry and updating the record. Another process will update the
  // record.
  const lags = isUnderWay(record);
  if (!lags && record.tip !== tip.entry.hash)
    return { seq, message: "the close entry is not the one that the record of the run knows" };
  const message =
    (await signatureMisfit(ports, tip)) ??
    (await rootMisfit(ports, tip)) ??
    (lags ? undefined : await endMisfit(ports, record, first, tip, erasures));
  if (message !== undefined) return { seq, message };
  return lags ? "open" : "anchored";
}

const closeDropped = "the close entry was dropped";

type RootPorts = Pick<Ports, "chain" | "roots" | "keyPair">;

/**
 * Returns the fault of the leaf of a closed run in its Merkle tree; undefined if the leaf has no fault. Also returns
 * undefined if the run has no note, because no tree contains the run yet. An attacker can remove the note, but cannot
 * take the run out of the tree.
 */
async function rootMisfit(ports: RootPorts, checked: Checked): Promise<string | undefined> {
  const note = (await ports.chain.notes(checked.head.execution_id)).find((one) => one.kind === "root");
  if (note?.kind !== "root") return undefined;
  return misfitWithTree(ports, note, checked).catch(recoverFrom(TreeDamaged, ({ message }) => message));
}

async function misfitWithTree({ roots, keyPair }: RootPorts, { number, index }: RootNote, { head, entry }: Checked) {
  const [stored, before] = await Promise.all([roots.read(number), number > 1 ? roots.read(number - 1) : undefined]);
  if (!stored)
    return `its note names root ${number}, which does not exist: the note was changed, or the root was dropped`;
  const root = readRoot(stored);
  if (root.previous !== (before ? sha256(before.text) : null))
    return `root ${number} does not name the root before: one of the two was changed`;
  if (!(await isRootSigned(keyPair, root))) return `the signature of root ${number} is not valid`;
  const leaf = (await roots.leaves(root))[index];
  if (leaf?.execution !== head.execution_id)
    return `leaf ${index} of tree ${number} is not this run: its note was changed`;
  return leaf.hash === entry.hash
    ? undefined
    : `tree ${number} has another end of this run: the chain was rewritten after it`;
}
