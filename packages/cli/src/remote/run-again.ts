import type { NovaClient, RestartOptions } from "@nova/client";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { readWorkflow } from "../api/recorded.ts";
import { type Asking, thisTerminal } from "../output/asking.ts";
import { printError } from "../output/terminal.ts";
import { nodeOfPlace } from "../replay/recorded.ts";

interface RestartRequest {
  changes: RestartOptions;
  /** A program reads the output. */
  json: boolean;
}

/** Warns before nodes with effects run again. On a terminal it asks the user; false: the user said no. */
export async function confirmRestart(
  server: NovaClient,
  id: string,
  { changes, json }: RestartRequest,
  asking = thisTerminal,
) {
  const { again, misfits } = await server.executions.restart(id, { ...changes, dry_run: true });
  // The server refuses a restart that does not fit, so no node runs.
  if (again.length === 0 || misfits.length > 0) return true;
  const { workflow, version } = await server.executions.get(id);
  const definition = await readWorkflow(server, workflow, changes.version ?? version);
  const places = again.filter((place) => place.includes("/") || hasEffects(definition, nodeOfPlace(place)));
  if (places.length === 0) return true;
  const what = `${joinPlaces(places)} will run again, with its effects`;
  return confirm(what, `restart ${id}`, { json, asking });
}

/** Warns before many executions of a workflow restart, some of which may reach nodes with effects. */
export async function confirmRestarts(
  server: NovaClient,
  workflow: string,
  { changes, json, count }: RestartRequest & { count: number },
  asking = thisTerminal,
): Promise<boolean> {
  if (count === 0) return true;
  const { version } = changes;
  const { definition: latest } = await server.workflows.get(workflow, defined({ version }));
  const definition = latest as unknown as Workflow;
  const nodes = Array.from(nodeIndex(definition).keys()).filter((id) => hasEffects(definition, id));
  if (nodes.length === 0) return true;
  const what = `${joinPlaces(nodes)} may run again, with its effects`;
  return confirm(what, `restart ${count} ${count === 1 ? "execution" : "executions"}`, { json, asking });
}

async function confirm(
  what: string,
  question: string,
  { json, asking }: Pick<RestartRequest, "json"> & { asking: Asking },
) {
  if (!json && asking.isInteractive) return asking.ask(`${what} - ${question}?`, "no");
  printError(`nova: ${what}`);
  return true;
}

function hasEffects(workflow: Workflow, id: string): boolean {
  const node = nodeIndex(workflow).get(id)?.node;
  return node !== undefined && "executor" in node && node.effects === true;
}

const maxListed = 10;

function joinPlaces(places: readonly string[]): string {
  const more = places.length > maxListed ? ` and ${places.length - maxListed} more` : "";
  return places.slice(0, maxListed).join(", ") + more;
}
