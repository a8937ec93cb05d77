import { createHash } from "node:crypto";
import type { BlobRef, CodeResult, RunRequest } from "@nova/engine";
import { linkName } from "../../../packages/engine/src/chain/link-name.ts";
import { type Box, claimName, type Run } from "./sandbox-state.ts";
import type { Process } from "./scheduler.ts";

/** What a node's code does, as a test writes it. */
export interface Script {
  /** Calls that it takes before it is done; a sandbox may die between any two. */
  pauses?: number;
  /** The key of the context whose blob it reads first. */
  reads?: string;
  /** Its sandbox never tells an end. */
  isSilent?: true;
  /** Its sandbox says what no harness says, to whoever asks. */
  isMalformed?: true;
  /** Large results, beside those in `result`. */
  files?: Uint8Array[];
  result: CodeResult;
}

/** How a delivery's call to the sandbox ended inside of it. */
export interface Execution {
  state: "starting" | "tombstoned" | "claimed" | "attached";
}

export interface Code {
  /** Decides what the code of a claim will do. */
  script: (request: RunRequest) => Script;
  /** Told when code begins and when it has finished. */
  onBegin: (run: Run) => void;
  /** How fast the next code is. */
  weight?: () => number;
}

/**
 * The program that a delivery starts in a sandbox. It runs on whatever becomes of the delivery: claims exclusively,
 * then looks for a tombstone, then runs the code and keeps the result.
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

/** Code of another execution ends everything of the one before it, which does not come back. */
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
  // The killer of a link ends its runs; a program that was killed does nothing more.
  const going = () => run.state === "running";
  if (script.reads !== undefined) {
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

/** The link that a claim's name begins with. */
export function linkOf(execution: string, seq: number): string {
  return linkName({ execution, scope: "", seq });
}
