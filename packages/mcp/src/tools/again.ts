import { ApiProblem, type NovaClient } from "@nova/client";
import { RawJson } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { z } from "zod";
import { changes, Execution, JsonText, linkToCall, Next, tool, WorkflowId } from "../tool.ts";
import { describeRefusal, describeRun, RunResult, readUntil, Verdict } from "../verdict.ts";
import { readPublished } from "./definitions.ts";
import { WaitSeconds } from "./runs.ts";

const Forecast = z
  .object({
    reused: z.array(z.string()),
    runs: z.array(z.string()),
    again: z.array(z.string()).describe("places that ran before and may have effects twice"),
    misfits: z.array(z.string()),
  })
  .nullable();

export const restart = tool({
  name: "restart",
  description:
    "Restart a run from its failed nodes or from a place, and reuse the nodes before. First call it as it is: a dry run, which starts nothing. Then with dry_run false.",
  input: z.object({
    execution_id: Execution,
    from: z.string().optional().describe("a place, such as find or each[3].find; absent: what failed"),
    version: z.number().optional().describe("such as the repaired one; absent: that of the run"),
    context_patch: JsonText.optional(),
    dry_run: z.boolean().default(true),
    wait_seconds: WaitSeconds,
  }),
  output: RunResult.extend({ verdict: z.enum([...Verdict.options, "forecast"]), forecast: Forecast }),
  hints: changes,
  async call({ execution_id: id, from, version, context_patch, dry_run, wait_seconds }, { nova, maxWaitSeconds }) {
    const patch = context_patch === undefined ? undefined : new RawJson(context_patch);
    const wish = defined({ from, version, context_patch: patch });
    const repeated = { execution_id: id, ...defined({ from, version, context_patch }), dry_run: true };
    const linkToForecast = linkToCall("restart", repeated, "the forecast");
    if (dry_run) {
      const forecast = await nova.executions.restart(id, { ...wish, dry_run: true });
      const nothing = { execution_id: null, status: "forecast", error: null, findings: [], context: null };
      const next =
        forecast.misfits.length > 0 ? "choose another place or version" : "call restart again with dry_run false";
      const { reused, runs, again, misfits } = forecast;
      return {
        result: { verdict: "forecast" as const, ...nothing, forecast: { reused, runs, again, misfits }, next },
        whole: linkToForecast,
      };
    }
    const deadline = Date.now() + Math.min(wait_seconds ?? maxWaitSeconds, maxWaitSeconds) * 1000;
    try {
      const started = await nova.executions.restart(id, wish);
      const { result, ...rest } = await describeRun(nova, await readUntil(nova, started.execution_id, deadline));
      return { result: { ...result, forecast: null }, ...rest };
    } catch (cause) {
      return { result: { ...describeRefusal(cause), forecast: null }, whole: linkToForecast };
    }
  },
});

const TestVerdict = z.enum(["passed", "differs", "refused"]);

const Tested = z.object({
  execution_id: z.string(),
  repetition: z.string().nullable().describe("the run that repeated this run"),
  verdict: TestVerdict,
  differences: z.array(z.string()).describe("places in the runs, with the keys that the runs set differently"),
  reason: z.string().nullable(),
});

/** The largest number of recorded runs that the tool repeats to test a version. */
const maxRuns = 5;

export const test = tool({
  name: "test",
  description:
    'Test a version on recorded runs: its nodes with "effects": false run again on the recorded values, all others are reused, and the results are compared.',
  input: z.object({
    workflow: WorkflowId,
    version: z.number().optional().describe("absent: the latest"),
    executions: z.array(z.string()).max(maxRuns).optional().describe("absent: the last five that completed"),
    wait_seconds: WaitSeconds,
  }),
  output: z.object({
    verdict: TestVerdict,
    items: z.array(Tested),
    next: Next,
  }),
  hints: changes,
  async call({ workflow, version, executions, wait_seconds }, { nova, maxWaitSeconds }) {
    const deadline = Date.now() + Math.min(wait_seconds ?? maxWaitSeconds, maxWaitSeconds) * 1000;
    const found = await readPublished(nova, workflow, version);
    const again = repeatableNodes(JSON.parse(found.text));
    const items: z.output<typeof Tested>[] = [];
    for (const id of executions ?? (await lastCompleted(nova, workflow)))
      items.push(await testOne(nova, id, { version: found.version, again, deadline }));
    const worst = (["differs", "refused"] as const).find((one) => items.some((item) => item.verdict === one));
    const verdict: z.output<typeof TestVerdict> = items.length === 0 ? "refused" : (worst ?? "passed");
    const next =
      items.length === 0
        ? "there is no completed run to compare with - run it first"
        : "trace shows a repetition that differs";
    const whole = items.flatMap(({ execution_id: id, repetition }) =>
      repetition === null
        ? []
        : [{ uri: `nova://executions/${id}/differences/${repetition}`, name: `the differences of ${id}` }],
    );
    return { result: { verdict, items, next }, whole };
  },
});

/** Returns the ids of nodes that declare that they have no effects, also in bodies of maps. */
function repeatableNodes({ nodes = [] }: { nodes?: { id: string; effects?: boolean; nodes?: never[] }[] }): string[] {
  return nodes.flatMap(({ id, effects, nodes: inner }) => [
    ...(effects === false ? [id] : []),
    ...repeatableNodes({ nodes: inner ?? [] }),
  ]);
}

async function lastCompleted(nova: NovaClient, workflow: string): Promise<string[]> {
  const query = { workflow, status: "completed" as const, limit: 50 };
  const { items } = await nova.ask(nova.api.GET("/executions", { params: { query } }));
  const whole = items.filter(({ parent, restarted_from }) => parent === null && restarted_from === null);
  return whole.slice(0, maxRuns).map(({ execution_id }) => execution_id);
}

async function testOne(
  nova: NovaClient,
  id: string,
  { version, again, deadline }: { version: number; again: string[]; deadline: number },
): Promise<z.output<typeof Tested>> {
  const refuse = (reason: string, repetition: string | null = null): z.output<typeof Tested> => {
    return { execution_id: id, repetition, verdict: "refused", differences: [], reason };
  };
  if (again.length === 0) return refuse('no node declares "effects": false, so a test would run nothing');
  try {
    const wish = { version, ask_again: again };
    const forecast = await nova.executions.restart(id, { ...wish, dry_run: true });
    const [misfit] = forecast.misfits;
    if (misfit !== undefined) return refuse(misfit);
    const effective = forecast.runs.filter((place) => !again.includes(nodeOf(place)));
    if (effective.length > 0)
      return refuse(`${effective.slice(0, 5).join(", ")} would run, and may have effects - run tries it with them`);
    const { execution_id: repetition } = await nova.executions.restart(id, wish);
    const ended = await readUntil(nova, repetition, deadline);
    if (ended.status !== "completed") return refuse(`its repetition is ${ended.status}`, repetition);
    const differences = await listDifferences(nova, id, repetition);
    const verdict = differences.length === 0 ? "passed" : "differs";
    return { execution_id: id, repetition, verdict, differences, reason: null };
  } catch (cause) {
    if (cause instanceof ApiProblem && cause.status === 422) return refuse(cause.message);
    throw cause;
  }
}

/** Returns the id of the node in a place: `find` for `each[3].find#2`. */
function nodeOf(place: string): string {
  return (place.split("/").at(-1) ?? "").replace(/^.*\]\./, "").replace(/#\d+$/, "");
}

/**
 * Lists the places at which two runs differ. Each text names a place, and the keys to which the runs gave different
 * values there.
 */
export async function listDifferences(nova: NovaClient, a: string, b: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { place, path, context } of nova.executions.diff(a, b)) {
    if (path !== "both") found.push(`${place}: ${path === "only_a" ? "did not run" : "ran"}`);
    const keys = (JSON.parse((context as unknown as RawJson).text) as { key: string }[]).map(({ key }) => key);
    if (keys.length > 0) found.push(`${place}: ${keys.join(", ")}`);
  }
  return found;
}
