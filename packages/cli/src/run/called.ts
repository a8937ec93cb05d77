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
import { InvalidInput, InvalidWorkflow, throwInvalid } from "../errors.ts";
import { readAndParse } from "../input/workflow.ts";

/** The workflows that a workflow calls, directly or indirectly, if their folders are next to its own. */
export interface Called {
  workflows: Extract<Compiled, { workflow: Workflow }>[];
  /** Their folders. */
  places: { id: string; place: string }[];
  calls: Call[];
  warnings: Finding[];
}

/** Called workflows that are read but not checked. */
export interface ReadCalled extends Pick<Called, "places" | "calls"> {
  parsed: ParsedWorkflow[];
}

export const nothingCalled: ReadCalled = { parsed: [], places: [], calls: [] };

/** Reads the called workflows from folders next to `path`. Throws `InvalidWorkflow`, `InvalidInput`. */
export async function readCalled(path: string, workflow: Workflow): Promise<ReadCalled> {
  const { callsOf } = await import("@nova/service/calls");
  const called: ReadCalled = { parsed: [], places: [], calls: callsOf(workflow) };
  // The parent of the workflow's folder, or the folder of a single workflow file.
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
    // The user did not name this folder, so a link out of the parent folder must not publish anything.
    const sentence = ({ message }: Error) => `"${beside}": ${message}, or publish it first`;
    await demandLeadsInside(beside, basename(place)).catch(throwInvalid(sentence));
    const parsed = await readAndParse(place);
    if (!parsed.workflow) throw new InvalidWorkflow(place, parsed.findings);
    if (parsed.workflow.id !== id) {
      const advice = `use that id in the node, or give the workflow the id "${id}"`;
      throw new InvalidInput(`"${place}" has the workflow "${parsed.workflow.id}", not "${id}" - ${advice}`);
    }
    called.parsed.push(parsed);
    called.places.push({ id, place });
    called.calls.push(...callsOf(parsed.workflow));
  }
  return called;
}

/** Compiles the called workflows. Throws `InvalidWorkflow`. */
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
