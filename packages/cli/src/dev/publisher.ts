import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LocalCloud, OwnKey } from "@nova/local";
import type { Published } from "@nova/service";
import { type Finding, isWorkflowFolder, type WorkflowSource } from "@nova/workflow";
import { InvalidInput, refusing } from "../errors.ts";
import { sharedIds } from "../input/shared-ids.ts";
import { withoutPrice } from "../input/unpriced.ts";
import { notInstalled } from "../packages/not-installed.ts";

/** A folder that is published, and what new runs use. */
export interface PublishedFolder extends Pick<Published, "id" | "version" | "created" | "isNew" | "findings"> {
  folder: string;
  active: number | null;
}

/** What became of a folder: published, or why not. */
export type PublishOutcome = PublishedFolder | { folder: string; problem: string; findings: Finding[] };

/** A node runs a workflow that is not there: it may come with another folder. */
const missingWorkflow = "NOVA419";

interface Found {
  folder: string;
  /** As it was read, or why it is not published. */
  source: WorkflowSource | Error;
  /** Absent where the workflow is not valid. */
  id?: string | undefined;
  text: string;
}

/** Publishes workflow folders as the API would, one round after the other. */
export class Publisher {
  readonly #cloud: LocalCloud;
  readonly #key: OwnKey;
  readonly #tell: (outcome: PublishOutcome) => void;
  /** Those that were named and read. */
  readonly #roots = new Set<string>();
  readonly #changed = new Set<string>();
  /** What was last told of each folder, as text. */
  readonly #told = new Map<string, string>();
  #working: Promise<void> | undefined;

  constructor(cloud: LocalCloud, key: OwnKey, tell: (outcome: PublishOutcome) => void) {
    this.#cloud = cloud;
    this.#key = key;
    this.#tell = tell;
  }

  /** Resolves when every root that was named so far is published. One that is gone by now has no folders any more. */
  publish(...roots: string[]): Promise<void> {
    for (const root of roots) this.#changed.add(root);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async #work(): Promise<void> {
    while (this.#changed.size > 0) {
      const roots = [...this.#roots.union(this.#changed)];
      this.#changed.clear();
      const folders = (await Promise.all(roots.map((root) => this.#foldersIn(root)))).flat();
      for (const root of roots) this.#roots.add(root);
      const found = await Promise.all([...new Set(folders)].map(readFolder));
      await this.#publishAll(this.#newsOf(found));
    }
  }

  #foldersIn(root: string): Promise<string[]> {
    return workflowFoldersIn(root).catch((error: Error) => {
      if (this.#roots.has(root)) return [];
      throw error;
    });
  }

  /** What is to be told anew, also of folders that have got or lost the id of another one. */
  #newsOf(found: readonly Found[]): Found[] {
    const problems = sharedIds(found.map(({ folder, id }) => ({ path: folder, id })));
    const judged = found.map((one): Found => {
      const problem = problems.get(one.folder);
      return problem === undefined ? one : { folder: one.folder, source: new InvalidInput(problem), text: problem };
    });
    return judged.filter(({ folder, text }) => {
      const isNew = this.#told.get(folder) !== text;
      this.#told.set(folder, text);
      return isNew;
    });
  }

  /** Those that run others come behind them, in whatever order the folders lie. */
  async #publishAll(found: readonly Found[]): Promise<void> {
    const outcomes = [];
    for (const one of found) outcomes.push({ one, outcome: await this.#publishOne(one) });
    const later = outcomes.filter(({ outcome }) => isBehindAnother(outcome));
    const isStuck = later.length === found.length;
    for (const { one, outcome } of outcomes)
      if (isStuck || !later.some((each) => each.one === one)) this.#tell(outcome);
    if (!isStuck) await this.#publishAll(later.map(({ one }) => one));
  }

  async #publishOne({ folder, source }: Found): Promise<PublishOutcome> {
    if (source instanceof Error) return { folder, problem: source.message, findings: [] };
    const [{ publish, showWorkflow }, { parseWorkflow }] = await Promise.all([
      import("@nova/service"),
      import("@nova/workflow"),
    ]);
    try {
      const published = await publish(this.#cloud.service, this.#key.principal, source, { staysBack: true });
      const { active } = await showWorkflow(this.#cloud.service, published.id);
      const parsed = parseWorkflow(source);
      const findings = [...published.findings, ...(await notInstalled(parsed)), ...(await withoutPrice(parsed))];
      return { folder, ...published, active, findings };
    } catch (error) {
      const findings = error instanceof Error && "findings" in error ? (error.findings as Finding[]) : [];
      return { folder, problem: error instanceof Error ? error.message : String(error), findings };
    }
  }
}

async function readFolder(folder: string): Promise<Found> {
  const { parseWorkflow, readWorkflowSource } = await import("@nova/workflow");
  const source = await readWorkflowSource(folder).catch((error: Error) => error);
  if (source instanceof Error) return { folder, source, text: source.message };
  return { folder, source, id: parseWorkflow(source).workflow?.id, text: JSON.stringify(source) };
}

function isBehindAnother(outcome: PublishOutcome): boolean {
  const errors = "problem" in outcome ? outcome.findings.filter(({ severity }) => severity === "error") : [];
  return errors.length > 0 && errors.every(({ code }) => code === missingWorkflow);
}

/** Folders below a root that never hold what people write. */
export const passedOver = /^(\..*|node_modules|__pycache__)$/;

/** The workflow folders of a root: itself, or those in it. Throws `InvalidInput` for what is no folder. */
export async function workflowFoldersIn(root: string): Promise<string[]> {
  if (isWorkflowFolder(root)) return [root];
  const advice = "name one with workflow.json or workflow.ts, or one with such folders";
  const read = readdir(root, { withFileTypes: true });
  const entries = await read.catch(refusing(`"${root}" is no folder - ${advice}`));
  const names = entries.filter((entry) => entry.isDirectory() && !passedOver.test(entry.name)).map(({ name }) => name);
  return names
    .sort()
    .map((name) => join(root, name))
    .filter(isWorkflowFolder);
}
