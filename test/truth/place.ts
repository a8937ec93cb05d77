import { setTimeout } from "node:timers/promises";
import { SFNClient } from "@aws-sdk/client-sfn";
import { createClient, type NovaClient, type WholeExecution } from "@nova/client";
import { root } from "../support/imports.ts";
import { region, shell } from "./environment.ts";
import { type VisitedStates, visited } from "./paths.ts";
import type { Ended, Processes } from "./processes.ts";

/** One of the two NOVAs that are compared: deployed into moto, or local. */
export interface Place {
  name: "deployed" | "local";
  nova: NovaClient;
  /** A client for the Step Functions of this NOVA. */
  states: SFNClient;
  /** Runs the command line against this NOVA's server. */
  cli(...args: string[]): Promise<Ended>;
  /**
   * Starts the runs that the schedules of a workflow would start, because a test cannot wait hours for a schedule.
   * Absent if this NOVA cannot do that.
   */
  fireSchedules?(workflow: string): Promise<void>;
}

interface Address {
  url: string;
  apiKey: string;
  states: { endpoint: string; accessKeyId: string; secretAccessKey: string };
}

export function placeAt(name: Place["name"], { url, apiKey, states }: Address, processes: Processes): Place {
  const { endpoint, ...credentials } = states;
  const env = { ...shell(), NOVA_URL: url, NOVA_API_KEY: apiKey };
  return {
    name,
    nova: createClient({ url, apiKey }),
    states: new SFNClient({ endpoint, region, credentials }),
    cli: (...args) => processes.run([process.execPath, "node_modules/.bin/nova", ...args], { cwd: root, env }),
  };
}

/**
 * The longest time in milliseconds that a scenario waits for one event. Each step of the workflows is faster, even on a
 * busy machine.
 */
const patienceMs = 180_000;

export class NeverHappened extends Error {
  override name = "NeverHappened";
}

/** Calls `ask` repeatedly until `ask` returns an answer. Throws `NeverHappened` after `patienceMs`. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await setTimeout(250)) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new NeverHappened(`${what} did not happen within ${patienceMs / 1000} s`);
}

/** Waits for the end of the execution and returns it. */
export function ended(place: Place, id: string): Promise<WholeExecution> {
  return until(`the end of ${id}`, async () => {
    const execution = await place.nova.executions.get(id);
    return !["queued", "running", "waiting"].includes(execution.status) && execution;
  });
}

/** Waits until the execution's state machine has entered the state. */
export function entered(place: Place, workflow: string, id: string, state: string): Promise<VisitedStates> {
  return until(`state ${state} of ${id}`, async () => {
    const executions = (await visited(place.states)).get(`nova-${workflow}`) ?? [];
    return executions.find((one) => one.name === id && one.entered.includes(state));
  });
}
