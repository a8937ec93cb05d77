import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Compiled } from "@nova/compiler";
import type { Call } from "@nova/service";
import {
  demandLeadsInside,
  type Finding,
  isFileOfFolder,
  isWorkflowFolder,
  type ParsedWorkflow,
  type Workflow,
} from "@nova/workflow";
import { InvalidInput, InvalidWorkflow, refusing } from "../errors.ts";
import { readAndParse } from "../input/workflow.ts";

/** What a workflow runs, and what that runs, as far as it lies beside. */
export interface Called {
  workflows: Extract<Compiled, { workflow: Workflow }>[];
  /** Where they lie. */
  places: { id: string; place: string }[];
  calls: Call[];
  warnings: Finding[];
}

/** The same, read and not yet checked. */
export interface ReadCalled extends Pick<Called, "places" | "calls"> {
  parsed: ParsedWorkflow[];
}

export const nothingCalled: ReadCalled = { parsed: [], places: [], calls: [] };

/** Reads the workflows that one at `path` runs, from the folders beside it. Throws `InvalidWorkflow`; `InvalidInput`. */
export async function readCalled(path: string, workflow: Workflow): Promise<ReadCalled> {
  const { callsOf } = await import("@nova/service/calls");
  const called: ReadCalled = { parsed: [], places: [], calls: callsOf(workflow) };
  // The folder in which a workflow's folder lies; of a lone file the one in which it is.
  const full = resolve(path);
  const beside = isFileOfFolder(full) ? dirname(dirname(full)) : dirname(full);
  const holdsWorkflow = (place: string) => isWorkflowFolder(place) || (/\.(json|ts)$/.test(place) && existsSync(place));
  const seen = new Set([workflow.id]);
  for (const { workflow: id } of called.calls) {
    const place = seen.has(id)
      ? undefined
      : [id, `${id}.json`, `${id}.ts`].map((name) => join(beside, name)).find(holdsWorkflow);
    seen.add(id);
    if (place === undefined) continue;
    // Nobody has named it: a link that leads elsewhere would be published without anybody knowing.
    const sentence = ({ message }: Error) => `"${beside}": ${message}, or publish it first`;
    await demandLeadsInside(beside, basename(place)).catch(refusing(sentence));
    const parsed = await readAndParse(place);
    if (!parsed.workflow) throw new InvalidWorkflow(place, parsed.findings);
    if (parsed.workflow.id !== id) {
      const advice = `write that into the node, or give the workflow the id "${id}"`;
      throw new InvalidInput(`"${place}" holds the workflow "${parsed.workflow.id}", not "${id}" - ${advice}`);
    }
    called.parsed.push(parsed);
    called.places.push({ id, place });
    called.calls.push(...callsOf(parsed.workflow));
  }
  return called;
}

/** Throws `InvalidWorkflow`. */
export async function compileCalled({ parsed, places, calls }: ReadCalled): Promise<Called> {
  const { compileParsed } = await import("@nova/compiler");
  const called: Called = { workflows: [], places, calls, warnings: [] };
  for (const [i, one] of parsed.entries()) {
    const compiled = await compileParsed(one);
    if (!compiled.workflow) throw new InvalidWorkflow(places[i]?.place ?? "", compiled.findings);
    called.workflows.push(compiled);
    called.warnings.push(...compiled.findings);
  }
  return called;
}
