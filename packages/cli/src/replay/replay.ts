import { needsAnalysis } from "@nova/agents";
import type { NovaClient } from "@nova/client";
import {
  asWritten,
  buildRecordedOutput,
  buildReplayOutput,
  type Difference,
  differences,
  renderJson,
  type TraceEntry,
} from "@nova/engine";
import { type IndexedNode, nodeIndex, type TaskNode, type Workflow } from "@nova/workflow";
import { listRecorded, notRunError, type Recorded, readTrace, readWorkflow } from "../api/recorded.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { differenceLines, rawJson } from "../output/diff.ts";
import { type CommandOutput, printError, styled } from "../output/terminal.ts";
import { cell } from "../output/text.ts";
import { type TrialFor, type TrialInput, tryRuns, withTrials } from "./trial.ts";

/**
 * Runs the recorded code of nodes again and compares the outcomes. `asked` is one place, or the id of a node, which
 * selects all runs of the node.
 */
export async function replayExecution(id: string, asked: string | undefined): Promise<CommandOutput> {
  const { replayed, kept } = await withTrials((nova, trialFor) => replayAll(nova, trialFor, id, asked));
  const lost = kept.filter(({ why }) => why === erased).map(({ place }) => place);
  if (lost.length > 0) {
    const sentence = `the contents of ${lost.join(", ")} in ${id} were erased: their code cannot run again`;
    if (replayed.length === 0) throw new InvalidInput(`${sentence} - nova trace ${id} shows the rest`);
    printError(`nova: ${sentence}`);
  }
  const differs = replayed.flatMap(({ place, differences }) =>
    differences.map(({ key, recorded, now }) => ({ place, key, was: rawJson(recorded), is: rawJson(now) })),
  );
  const same = differs.length === 0;
  return {
    json: renderJson(asWritten({ same, differs })),
    text: replayLines(replayed, kept),
    code: same ? exitCodes.completed : exitCodes.failed,
  };
}

const erased = "erased";

interface Run extends TrialInput {
  edges: IndexedNode["edges"];
}

async function replayAll(nova: NovaClient, trialFor: TrialFor, id: string, asked: string | undefined) {
  const trace = await readTrace(nova, id, { full: true });
  const chosen = selectRuns(Array.from(listRecorded(trace, asked !== undefined)), id, asked);
  const [kept, replayed]: [Kept[], Replayed[]] = [[], []];
  const versions = Map.groupBy(chosen, ({ execution: { workflowId, version } }) => `${workflowId} ${version}`);
  for (const recorded of versions.values()) {
    const [{ execution }] = recorded as [Recorded];
    const workflow = await readWorkflow(nova, execution.workflowId, execution.version);
    const runs: Run[] = [];
    for (const one of recorded) {
      const run = prepareRun(one, workflow, asked !== undefined);
      if ("why" in run) kept.push(run);
      else runs.push(run);
    }
    if (runs.length === 0) continue;
    const results = tryRuns(runs, await trialFor(workflow));
    let next = 0;
    for await (const { result, withheld } of results) {
      const { recorded, ...node } = runs[next++] as Run;
      const now = buildReplayOutput(result, node, recorded.entry);
      const found = differences(buildRecordedOutput(recorded.entry), now);
      replayed.push({ place: recorded.place, differences: found, withheld });
    }
  }
  return { replayed, kept };
}

const noSteps: ReadonlySet<string> = new Set(["start", "end", "join", "close"]);

function selectRuns(all: readonly Recorded[], id: string, asked: string | undefined): Recorded[] {
  const steps = all.filter(({ entry }) => !noSteps.has(entry.node_type));
  if (asked === undefined) return steps;
  const exact = steps.filter(({ place }) => place === asked);
  const found = exact.length > 0 ? exact : steps.filter(({ entry }) => entry.node_id === asked);
  if (found.length > 0) return found;
  const places = steps.map(({ place }) => ({ node_id: place }));
  throw notRunError(asked, id, places);
}

function prepareRun(recorded: Recorded, workflow: Workflow, isAsked: boolean): Run | Kept {
  const { entry, place } = recorded;
  const { node, edges } = nodeIndex(workflow).get(entry.node_id) ?? {};
  if (!node || !edges || !("executor" in node)) return { place, why: "without code" };
  const why = reasonToKeep(entry, node, isAsked);
  if (why !== undefined) return { place, why };
  const code = entry.code_executed ?? "";
  const analysis = needsAnalysis(code) ? entry.ai_metadata?.analysis_metadata?.analysis_code : undefined;
  return { node, edges, version: { workflow }, recorded, locked: { code, ...(analysis && { analysis }) } };
}

function reasonToKeep(entry: TraceEntry, { effects, executor }: TaskNode, isAsked: boolean): string | undefined {
  if (entry.reused_from) return `reused from ${entry.reused_from.execution_id}`;
  if (entry.code_hash === null) return "without code";
  if (entry.node_type === "agent") return "whose code calls tools";
  if (entry.status === "failed" && !ownFailures.has(entry.error_class ?? ""))
    return `which failed for another reason than its code (${entry.error_class})`;
  if (entry.status === "failed" && executor.kind === "prompt" && !entry.ai_metadata?.cache_hit)
    return "for which models wrote no working code";
  if (effects === true && !isAsked) return `which have "effects": true`;
  return [entry.code_executed, entry.input_context, entry.output_result].includes(null) ? erased : undefined;
}

/** Classes of errors that the code of a node causes, and not the sandbox or the cloud. */
const ownFailures: ReadonlySet<string> = new Set(["NodeFailed", "NodeTimeout"]);

export interface Replayed {
  place: string;
  differences: Difference[];
  withheld: string[];
}

export interface Kept {
  place: string;
  why: string;
}

/** Returns lines about the differences, and then about the number of compared runs. */
export function replayLines(replayed: readonly Replayed[], kept: readonly Kept[]): string[] {
  const differing = replayed.filter(({ differences }) => differences.length > 0);
  const count = `${replayed.length} ${replayed.length === 1 ? "run" : "runs"} of code`;
  const places = Map.groupBy(kept, ({ why }) => why);
  return [
    ...differing.flatMap(({ place, differences, withheld }) => [
      styled("bold", place) + (withheld.length > 0 ? styled("dim", ` (without ${withheld.join(", ")})`) : ""),
      ...differenceLines(differences),
    ]),
    differing.length === 0
      ? `${styled("green", "the same")}: the recorded outcome in ${count}`
      : `${styled("red", "differs")}: ${differing.length} of ${count}`,
    ...Array.from(places, ([why, all]) =>
      styled("dim", `from the record, ${why}: ${cell(all.map(({ place }) => place).join(", "))}`),
    ),
  ];
}
