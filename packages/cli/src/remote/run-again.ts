import type { NovaClient, RestartOptions } from "@nova/client";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { readWorkflow } from "../api/recorded.ts";
import { type Asking, thisTerminal } from "../output/asking.ts";
import { printError } from "../output/terminal.ts";
import { nodeAt } from "../replay/recorded.ts";

interface Again {
  wish: RestartOptions;
  /** Whoever reads what is printed is a program. */
  json: boolean;
}

/** Before nodes with effects run again: asks on a terminal, and says so elsewhere. False: somebody said no. */
export async function mayRunAgain(server: NovaClient, id: string, { wish, json }: Again, asking = thisTerminal) {
  const { again, misfits } = await server.executions.restart(id, { ...wish, dry_run: true });
  // What does not fit is refused, and runs nothing.
  if (again.length === 0 || misfits.length > 0) return true;
  const { workflow, version } = await server.executions.get(id);
  const definition = await readWorkflow(server, workflow, wish.version ?? version);
  const places = again.filter((place) => place.includes("/") || hasEffects(definition, nodeAt(place)));
  if (places.length === 0) return true;
  const what = `${listed(places)} will run again, and what it does outside happens a second time`;
  return maySay(what, `restart ${id}`, { json, asking });
}

/** The same of many executions of a workflow, of which some may come to such nodes. */
export async function mayRunManyAgain(
  server: NovaClient,
  workflow: string,
  { wish, json, count }: Again & { count: number },
  asking = thisTerminal,
): Promise<boolean> {
  if (count === 0) return true;
  const { version } = wish;
  const { definition: latest } = await server.workflows.get(workflow, defined({ version }));
  const definition = latest as unknown as Workflow;
  const nodes = Array.from(nodeIndex(definition).keys()).filter((id) => hasEffects(definition, id));
  if (nodes.length === 0) return true;
  const what = `${listed(nodes)} may run again, and what it does outside happens a second time`;
  return maySay(what, `restart ${count} ${count === 1 ? "execution" : "executions"}`, { json, asking });
}

async function maySay(what: string, question: string, { json, asking }: Pick<Again, "json"> & { asking: Asking }) {
  if (!json && asking.isInteractive) return asking.ask(`${what} - ${question}?`, "no");
  printError(`nova: ${what}`);
  return true;
}

function hasEffects(workflow: Workflow, id: string): boolean {
  const node = nodeIndex(workflow).get(id)?.node;
  return node !== undefined && "executor" in node && node.effects === true;
}

const maxListed = 10;

function listed(places: readonly string[]): string {
  const more = places.length > maxListed ? ` and ${places.length - maxListed} more` : "";
  return places.slice(0, maxListed).join(", ") + more;
}
