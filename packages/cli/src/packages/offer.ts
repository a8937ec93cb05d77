import type { Finding, ParsedWorkflow } from "@nova/workflow";
import { type Asking, thisTerminal } from "../output/asking.ts";
import { printError } from "../output/terminal.ts";
import { installCommand, installPackages, missingHere, notInstalled } from "./not-installed.ts";

/** Offers to install what they import, or models may; answers what is missing still. Asks nobody who cannot answer. */
export async function offerPackages(parsed: readonly ParsedWorkflow[], asking = thisTerminal): Promise<Finding[]> {
  const findings = (await Promise.all(parsed.map(notInstalled))).flat();
  if (!asking.isInteractive || (findings.length === 0 && !parsed.some(hasPrompt))) return findings;
  const missing = await missingHere();
  if (missing.length === 0 || !(await offer(missing, asking))) return findings;
  return (await Promise.all(parsed.map(notInstalled))).flat();
}

/** For a new workflow: asks, or answers the sentence that says how to install them; null where nothing is missing. */
export async function offerAll(asking = thisTerminal): Promise<string | null> {
  const missing = await missingHere();
  if (missing.length === 0 || (asking.isInteractive && (await offer(missing, asking)))) return null;
  return `Nodes may import pandas, PyMuPDF, requests, Pillow and psycopg; ${installCommand} brings what is missing here (${missing.join(", ")}).`;
}

async function offer(missing: readonly string[], { ask }: Asking): Promise<boolean> {
  const packages = missing.length === 1 ? "package" : "packages";
  const question = `NOVA's Python ${packages} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed here. Install now, for you alone and apart from the system's Python?`;
  if (!(await ask(question))) return false;
  try {
    const { folder } = await installPackages();
    printError(`installed in ${folder}`);
    return true;
  } catch (error) {
    if (!(error instanceof Error) || error.name === "Interrupted") throw error;
    printError(`nova: ${error.message}`);
    return false;
  }
}

/** A model may write an import of whatever a sandbox promises; locked code runs as it is. */
function hasPrompt({ workflow }: ParsedWorkflow): boolean {
  return (
    workflow?.nodes.some(
      (node) => "executor" in node && node.executor.kind === "prompt" && !workflow.lock?.[node.id],
    ) ?? false
  );
}
