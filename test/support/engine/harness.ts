import { createHash } from "node:crypto";
import type { BlobRef, CodeResult, RunRequest } from "@nova/engine";
import { entryName } from "../../../packages/engine/src/chain/ids.ts";
import { type Box, claimName, type Run } from "./sandbox-state.ts";
import type { Process } from "./scheduler.ts";

/** The behaviour of a node's code in a test. */
export interface Script {
  /** The number of calls that the code makes before it ends. Its sandbox can die between any two of these calls. */
  pauses?: number;
  /** The context key of a blob that the code reads first. */
  reads?: string;
  /** Set if the sandbox never reports the end of the code. */
  isSilent?: true;
  /** Set if the sandbox gives a malformed answer to every delivery that asks for the outcome. */
  isMalformed?: true;
  /** Large results of the code, in addition to the values in `result`. */
  files?: Uint8Array[];
  result: CodeResult;
}

/**
 * A program that a delivery has started in a sandbox to run code. `claimed`: this program runs the code. `attached`:
 * the program of another delivery runs the code. `tombstoned`: the code may not run in this sandbox.
 */
export interface Execution {
  state: "starting" | "tombstoned" | "claimed" | "attached";
}

export interface Code {
  /** Returns the behaviour of the code that a request runs. */
  script: (request: RunRequest) => Script;
  /** Called when code starts. */
  onBegin: (run: Run) => void;
  /**
   * Returns the weight with which the scheduler picks the process of the next code. With a larger weight the code is
   * faster.
   */
  weight?: () => number;
}

/**
 * Runs the program that a delivery starts in a sandbox. The program claims the right to run the code, checks that there
 * is no tombstone, runs the code and keeps the result. The program can continue after the delivery has ended.
 */
export async function runHarness(process: Process, box: Box, request: RunRequest, execution: Execution, code: Code) {
  const name = claimName(request.claim);
  const claimed = await process.call({
    name: "claim",
    effect: () => {
      if (!admits(box, request.execution)) {
        execution.state = "tombstoned";
        return undefined;
      }
      if (box.runs.has(name)) {
        execution.state = "attached";
        return undefined;
      }
      const run: Run = { box, claim: request.claim, request, state: "claimed", files: [] };
      box.runs.set(name, run);
      execution.state = "claimed";
      return run;
    },
  });
  if (!claimed) return;
  const begun = await process.call({
    name: "look for a tombstone",
    effect: () => {
      if (box.tombstones.has(request.claim.link)) {
        execution.state = "tombstoned";
        claimed.state = "dead";
      } else if (claimed.state === "claimed") {
        claimed.state = "running";
        code.onBegin(claimed);
      }
      return claimed.state === "running";
    },
  });
  if (begun) await runCode(process, claimed, code.script(request));
}

/**
 * Returns whether code of this execution may run in the sandbox. When the first code of an execution starts in the
 * sandbox, all code of earlier executions ends there. The earlier executions may never run code in this sandbox again.
 */
function admits(box: Box, execution: string): boolean {
  const last = box.tenants.at(-1);
  if (last === execution) return true;
  if (box.tenants.includes(execution)) return false;
  for (const run of box.runs.values()) if (run.state !== "finished") run.state = "dead";
  box.runs.clear();
  box.tenants.push(execution);
  return true;
}

async function runCode(process: Process, run: Run, script: Script): Promise<void> {
  // A delivery can kill the code of an entry. Then this program stops its work.
  const going = () => run.state === "running";
  // The key may be missing, because the code of an agent's tool gets only the arguments of the call.
  if (script.reads !== undefined && run.request.context.some(({ key }) => key === script.reads)) {
    run.need = referenceUnder(run.request, script.reads);
    await process.call({
      name: `wait for ${script.reads}`,
      ready: () => run.need === undefined,
      effect: () => undefined,
    });
  }
  for (let i = 0; i < (script.pauses ?? 0) && going(); i++) {
    await process.call({ name: "work", effect: () => undefined });
  }
  run.isMalformed = script.isMalformed;
  if (script.isSilent || script.isMalformed) return;
  await process.call({
    name: "finish",
    effect: () => {
      if (!going()) return;
      run.files = (script.files ?? []).map((body) => ({ ref: textRef(body), body }));
      run.result = script.result;
      run.state = "finished";
    },
  });
}

export function textRef(body: Uint8Array): BlobRef {
  return { sha256: createHash("sha256").update(body).digest("hex"), bytes: body.length, type: "text" };
}

function referenceUnder(request: RunRequest, key: string): BlobRef {
  const json = request.context.find((member) => member.key === key)?.json ?? "null";
  return (JSON.parse(json) as { $blob: BlobRef }).$blob;
}

/** Returns the prefix that the names of all claims for an entry have. */
export function linkOf(execution: string, seq: number): string {
  return entryName({ execution, scope: "", seq });
}
