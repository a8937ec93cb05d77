import { setTimeout } from "node:timers/promises";
import type { WholeExecution } from "@nova/client";
import type { Deployed } from "./deployed.ts";
import { differences, visited } from "./paths.ts";
import type { Place } from "./place.ts";
import type { Row } from "./report.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

interface Compared {
  deployed: Deployed;
  local: Place;
  folders: readonly string[];
  tell(step: string): void;
}

/** Publishes the workflows to both clouds, runs every scenario in both, and returns the checks with their problems. */
export async function compare({ deployed, local, folders, tell }: Compared): Promise<Row[]> {
  const places = [deployed.place, local] as const;
  tell("publishing");
  const publishing = await published(places, folders);
  // The scenarios need all workflows, so they are skipped if one was not published.
  if (publishing.wrong.length > 0) return [publishing, unheard(deployed), roles(deployed)];
  const rows = [publishing];
  for (const scenario of scenarios) {
    tell(scenario.name);
    rows.push(await playedIn(places, scenario));
  }
  tell("what runs by the clock, and what was left to do");
  for (const name of ["nova-sweep", "nova-retain"]) await deployed.functions.invokeLater(name, {});
  await quiet(deployed);
  tell("comparing");
  return [...rows, await visitedStates(places), await verified(deployed.place), unheard(deployed), roles(deployed)];
}

type Places = readonly [deployed: Place, local: Place];

async function published(places: Places, folders: readonly string[]): Promise<Row> {
  const ends = await Promise.all(places.map((place) => place.cli("publish", ...folders)));
  const wrong = ends.flatMap(({ code, stdout, stderr }, index) =>
    code === 0 ? [] : [`${places[index]?.name}: nova publish ended with ${code}: ${lastLines(stdout + stderr)}`],
  );
  return { what: "published", looked: `${folders.length} workflows`, wrong };
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-5).join(" | ");
}

async function playedIn(places: Places, scenario: Scenario): Promise<Row> {
  const plays = await Promise.all(places.map((place) => play(place, scenario)));
  const [deployed, local] = plays as [Played, Played];
  const wrong = plays.flatMap((one) => one.wrong);
  const [there, here] = [deployed, local].map(({ executions }) => JSON.stringify(executions.map(brief).sort()));
  if (wrong.length === 0 && here !== there) wrong.push(`deployed: ${there}`, `local: ${here}`);
  return { what: scenario.name, looked: `${deployed.executions.length + local.executions.length} executions`, wrong };
}

interface Played {
  executions: WholeExecution[];
  wrong: string[];
}

async function play(place: Place, { run, status }: Scenario): Promise<Played> {
  try {
    const executions = await run(place);
    const others = executions.filter((one) => one.status !== status);
    const wrong = others.map((one) => `${place.name}: ${one.execution_id} is ${one.status}: ${one.error?.message}`);
    return { executions, wrong };
  } catch (error) {
    return { executions: [], wrong: [`${place.name}: ${error instanceof Error ? error.message : error}`] };
  }
}

/**
 * Returns the parts of an execution that must be equal in both clouds. Branches have no fixed order, so the path is
 * sorted. Values may contain times and ids, so only their keys count.
 */
function brief({ workflow, status, path, context, error }: WholeExecution): string {
  const failed = error && [error.class, error.node, error.message];
  return JSON.stringify([workflow, status, [...path].sort(), Object.keys(context).sort(), failed]);
}

/** Waits until no function has run for two seconds. Until then, a delivery may still start others. */
async function quiet({ functions }: Deployed): Promise<void> {
  for (let calm = 0; calm < 8; await setTimeout(250)) calm = functions.busy === 0 ? calm + 1 : 0;
}

async function visitedStates([deployed, local]: Places): Promise<Row> {
  const [there, here] = [await visited(deployed.states), await visited(local.states)];
  const machines = [...new Set([...there.keys(), ...here.keys()])].sort();
  const wrong = machines.flatMap((machine) =>
    differences(there.get(machine) ?? [], here.get(machine) ?? []).map((line) => `${machine}: ${line}`),
  );
  const count = [...there.values()].reduce((sum, executions) => sum + executions.length, 0);
  return { what: "visited states", looked: `${count} executions of ${machines.length} state machines`, wrong };
}

async function verified(place: Place): Promise<Row> {
  const wrong: string[] = [];
  const executions = await Array.fromAsync(place.nova.executions.list());
  for (const { execution_id, workflow } of executions) {
    const { code, stdout, stderr } = await place.cli("verify", execution_id, "--json");
    const state = code === 0 ? JSON.parse(stdout).state : lastLines(stdout + stderr);
    if (state !== "anchored") wrong.push(`${execution_id} of ${workflow}: ${state}`);
  }
  return { what: "chains of work", looked: `${executions.length} by nova verify`, wrong };
}

function unheard({ functions: { failures } }: Deployed): Row {
  const wrong = failures.map(({ name, message }) => `${name}: ${message}`);
  return { what: "what rules, queues and schedules invoked", looked: "every invocation", wrong };
}

function roles(deployed: Deployed): Row {
  const { count, askers, refused } = deployed.checkRoles();
  const wrong = Array.from(refused, ([line, times]) => `${line} (${times} times)`).sort();
  return { what: "requests within roles", looked: `${count} requests of ${askers.size} askers`, wrong };
}
