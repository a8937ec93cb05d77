import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LocalCloud, OwnKey } from "@nova/local";
import type { Published } from "@nova/service";
import { type Finding, isWorkflowFolder, parseWorkflow, readWorkflowSource, type WorkflowSource } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { findSharedIds, findUnpriced } from "../input/workflow.ts";
import { findNotInstalled } from "../packages.ts";

export interface PublishedFolder extends Pick<Published, "id" | "version" | "created" | "isNew" | "findings"> {
  folder: string;
  active: number | null;
}

export type PublishOutcome = PublishedFolder | { folder: string; problem: string; findings: Finding[] };

/**
 * The finding for a call of an unknown workflow. Another folder may contain that workflow, so the publisher publishes
 * the folder of the caller again after the other folders.
 */
const missingWorkflow = "NOVA419";

interface Found {
  folder: string;
  /** The content of the folder, or the error that says why the folder cannot be published. */
  source: WorkflowSource | Error;
  /** The id of the workflow; absent if the workflow is not valid. */
  id?: string | undefined;
  text: string;
}

/**
 * Makes a function that publishes workflow folders as the API does. If a folder changes while the function publishes,
 * the function publishes the folder again afterwards.
 */
export function publisherOf(cloud: LocalCloud, key: OwnKey, report: (outcome: PublishOutcome) => void) {
  const known = new Set<string>();
  const changed = new Set<string>();
  const reported = new Map<string, string>();
  let working: Promise<void> | undefined;

  /**
   * Publishes the folders in the roots. Resolves when all named roots are published. A root that has disappeared has no
   * folders.
   */
  function publish(...roots: string[]): Promise<void> {
    for (const root of roots) changed.add(root);
    working ??= work().finally(() => {
      working = undefined;
    });
    return working;
  }

  async function work(): Promise<void> {
    while (changed.size > 0) {
      const roots = [...known.union(changed)];
      changed.clear();
      const folders = (await Promise.all(roots.map((root) => foldersIn(root)))).flat();
      for (const root of roots) known.add(root);
      const found = await Promise.all([...new Set(folders)].map(readFolder));
      await publishAll(changedFolders(found));
    }
  }

  function foldersIn(root: string): Promise<string[]> {
    return workflowFoldersIn(root).catch((error: Error) => {
      if (known.has(root)) return [];
      throw error;
    });
  }

  /**
   * Returns the folders that have changed since the last report. A folder also counts as changed if another folder gets
   * the same id, or no longer has this id.
   */
  function changedFolders(found: readonly Found[]): Found[] {
    const problems = findSharedIds(found.map(({ folder, id }) => ({ path: folder, id })));
    const judged = found.map((one): Found => {
      const problem = problems.get(one.folder);
      return problem === undefined ? one : { folder: one.folder, source: new InvalidInput(problem), text: problem };
    });
    return judged.filter(({ folder, text }) => {
      const isNew = reported.get(folder) !== text;
      reported.set(folder, text);
      return isNew;
    });
  }

  /**
   * Publishes folders in any order. If a folder calls an unknown workflow, publishes this folder again after the
   * others, because one of them may be the called workflow.
   */
  async function publishAll(found: readonly Found[]): Promise<void> {
    const outcomes = [];
    for (const one of found) outcomes.push({ one, outcome: await publishOne(one) });
    const later = outcomes.filter(({ outcome }) => isMissingCall(outcome));
    const isStuck = later.length === found.length;
    for (const { one, outcome } of outcomes) if (isStuck || !later.some((each) => each.one === one)) report(outcome);
    if (!isStuck) await publishAll(later.map(({ one }) => one));
  }

  async function publishOne({ folder, source }: Found): Promise<PublishOutcome> {
    if (source instanceof Error) return { folder, problem: source.message, findings: [] };
    const service = await import("@nova/service");
    try {
      const published = await service.publish(cloud.service, key.principal, source, { staysBack: true });
      const { active } = await service.showWorkflow(cloud.service, published.id);
      const parsed = parseWorkflow(source);
      const findings = [...published.findings, ...(await findNotInstalled(parsed)), ...(await findUnpriced(parsed))];
      return { folder, ...published, active, findings };
    } catch (error) {
      const findings = error instanceof Error && "findings" in error ? (error.findings as Finding[]) : [];
      return { folder, problem: error instanceof Error ? error.message : String(error), findings };
    }
  }

  return publish;
}

async function readFolder(folder: string): Promise<Found> {
  const source = await readWorkflowSource(folder).catch((error: Error) => error);
  if (source instanceof Error) return { folder, source, text: source.message };
  return { folder, source, id: parseWorkflow(source).workflow?.id, text: JSON.stringify(source) };
}

function isMissingCall(outcome: PublishOutcome): boolean {
  const errors = "problem" in outcome ? outcome.findings.filter(({ severity }) => severity === "error") : [];
  return errors.length > 0 && errors.every(({ code }) => code === missingWorkflow);
}

/** Folders below a root that contain no source files. */
export const ignoredFolders = /^(\..*|node_modules|__pycache__)$/;

/**
 * Lists the workflow folders of a root: the root itself, or the workflow folders in it. Throws `InvalidInput` if the
 * root is not a folder.
 */
export async function workflowFoldersIn(root: string): Promise<string[]> {
  if (isWorkflowFolder(root)) return [root];
  const advice = "name one with workflow.json or workflow.ts, or one with such folders";
  const read = readdir(root, { withFileTypes: true });
  const entries = await read.catch(throwInvalid(`"${root}" is not a folder - ${advice}`));
  const folders = entries.filter((entry) => entry.isDirectory() && !ignoredFolders.test(entry.name));
  const paths = folders.map(({ name }) => join(root, name));
  return paths.sort().filter(isWorkflowFolder);
}
