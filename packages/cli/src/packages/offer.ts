import type { Finding, ParsedWorkflow } from "@nova/workflow";
import { type Asking, thisTerminal } from "../output/asking.ts";
import { printError } from "../output/terminal.ts";
import { findMissingPackages, findNotInstalled, installCommand, installPackages } from "./not-installed.ts";

/**
 * Offers to install missing packages that the workflows import or that models may import. Returns the findings that
 * remain. Asks only in an interactive terminal.
 */
export async function offerPackages(parsed: readonly ParsedWorkflow[], asking = thisTerminal): Promise<Finding[]> {
  const findings = (await Promise.all(parsed.map(findNotInstalled))).flat();
  if (!asking.isInteractive || (findings.length === 0 && !parsed.some(hasPrompt))) return findings;
  const missing = await findMissingPackages();
  if (missing.length === 0 || !(await offer(missing, asking))) return findings;
  return (await Promise.all(parsed.map(findNotInstalled))).flat();
}

/**
 * For a new workflow: offers to install missing packages, or returns a sentence that says how to install them; null if
 * none is missing.
 */
export async function offerAll(asking = thisTerminal): Promise<string | null> {
  const missing = await findMissingPackages();
  if (missing.length === 0 || (asking.isInteractive && (await offer(missing, asking)))) return null;
  return `Nodes may import pandas, PyMuPDF, requests, Pillow and psycopg; ${installCommand} installs the missing ones (${missing.join(", ")}).`;
}

async function offer(missing: readonly string[], { ask }: Asking): Promise<boolean> {
  const packages = missing.length === 1 ? "package" : "packages";
  const question = `NOVA's Python ${packages} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed here. Install now, only for you and separate from the system's Python?`;
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

/** Whether models may write code that imports any package of the template. Locked code does not change. */
function hasPrompt({ workflow }: ParsedWorkflow): boolean {
  return (
    workflow?.nodes.some(
      (node) => "executor" in node && node.executor.kind === "prompt" && !workflow.lock?.[node.id],
    ) ?? false
  );
}
