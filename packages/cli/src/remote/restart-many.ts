import { setTimeout as sleep } from "node:timers/promises";
import type { Execution, NovaClient, RestartForecast, RestartOptions } from "@nova/client";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { tableLines } from "../output/table.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { cell, duration, statusText } from "../output/text.ts";

/** Selects executions of a workflow. */
export interface Choice {
  workflow: string;
  status: Execution["status"];
  client?: string;
  /** ISO 8601: started then or later. */
  from?: string;
  /** The error class that ended them. */
  error?: string;
}

export interface Chosen {
  /** Oldest first. */
  sources: Execution[];
  /** The number of executions that were restarted before. */
  skipped: number;
}

/** Selects the executions to restart. Executions that were restarted before, and child executions, are left out. */
export async function chooseSources(server: NovaClient, { error, ...query }: Choice): Promise<Chosen> {
  const wanted = { ...query, ...(error !== undefined && { error_class: error }) };
  const all = await Array.fromAsync(server.executions.list({ ...wanted, limit: 200 }));
  const fitting = all.filter((one) => !one.parent);
  const sources = fitting.filter(({ restarts }) => restarts.length === 0);
  return { sources: sources.reverse(), skipped: fitting.length - sources.length };
}

interface Work {
  changes: RestartOptions;
  atOnce: number;
  interrupt: Interrupt;
  /** Called with a line for each finished execution. */
  tell(line: string): void;
}

/** A restarted execution, or the reason why it was refused. */
interface Done {
  execution_id: string | null;
  restarted_from: string;
  status: Execution["status"] | "refused";
  error: Execution["error"] | { message: string };
}

/**
 * Restarts executions, some at the same time, and waits until each ends or waits for an answer. Ctrl-C starts no
 * further ones.
 */
export async function restartMany(
  server: NovaClient,
  { sources, skipped }: Chosen,
  work: Work,
): Promise<CommandOutput> {
  const { changes, interrupt, tell } = work;
  const items: Done[] = [];
  const interrupted = interrupt.requested();
  await runEach(sources, work, async ({ execution_id: id }) => {
    const done = await catchRefusal(id, async (): Promise<Done> => {
      const { execution_id } = await server.executions.restart(id, changes);
      const { status, error } = await waitForRest(server, execution_id, interrupted);
      return { execution_id, restarted_from: id, status, error };
    });
    items.push(done);
    tell(`${bar(items.length, sources.length)} ${lineOf(done)}`);
  });
  const counts = Map.groupBy(items, ({ status }) => status);
  const told = Array.from(counts, ([status, { length }]) => `${length} ${status}`);
  const left = sources.length - items.length;
  const text = [
    sources.length === 0
      ? nothing
      : `${items.length} of ${sources.length} restarted${told.length > 0 ? `: ${told.join(", ")}` : ""}`,
    ...skippedLines(skipped),
    ...(left > 0 ? [`${left} are left: the same command continues with them`] : []),
  ];
  const isFine = items.every(({ status }) => ["completed", "waiting", "queued", "running"].includes(status));
  const code: ExitCode = interrupt.wasRequested
    ? exitCodes.interrupted
    : isFine
      ? exitCodes.completed
      : exitCodes.failed;
  return { json: { items, skipped }, text, code };
}

/** Describes what restarts of the executions would do. */
export async function forecastMany(
  server: NovaClient,
  { sources, skipped }: Chosen,
  work: Work,
): Promise<CommandOutput> {
  const items: ((RestartForecast & { execution_id: string }) | Done)[] = [];
  await runEach(sources, work, async ({ execution_id }) => {
    const asked = { ...work.changes, dry_run: true as const };
    const forecast = async () => ({ execution_id, ...(await server.executions.restart(execution_id, asked)) });
    items.push(await catchRefusal(execution_id, forecast));
  });
  const rows = items.map((item) => {
    if (!("runs" in item)) return [item.restarted_from, "", "", "", "", item.error?.message ?? ""];
    const { execution_id: id, reused, runs, again, misfits, estimate } = item;
    const counts = [reused, runs, again].map(({ length }) => String(length));
    return [id, ...counts, duration(estimate.execution_time_ms), cell(misfits.join("; "))];
  });
  const table = tableLines(["execution", "reuse", "run", "run again", "about", ""], rows);
  const text = sources.length === 0 ? nothing : table;
  return { json: { items, skipped }, text: [text, skippedLines(skipped)].flat() };
}

const nothing = "no execution to restart";

function skippedLines(skipped: number): string[] {
  return skipped === 0 ? [] : [`${skipped} ${skipped === 1 ? "was" : "were"} restarted before`];
}

async function runEach<T>(items: readonly T[], { atOnce, interrupt }: Work, work: (item: T) => Promise<void>) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      if (interrupt.wasRequested) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Turns the refusal of one execution into its result, so that the others continue. */
async function catchRefusal<T>(id: string, work: () => Promise<T>): Promise<T | Done> {
  try {
    return await work();
  } catch (error) {
    const isOfThisOne = error instanceof Error && "status" in error && [404, 409, 422].includes(error.status as number);
    if (!isOfThisOne) throw error;
    const { message } = error;
    return { execution_id: null, restarted_from: id, status: "refused", error: { message } };
  }
}

const pauseMs = 1_000;

async function waitForRest(server: NovaClient, id: string, interrupted: Promise<void>): Promise<Execution> {
  for (let isOver = false; ; ) {
    const execution = await server.executions.get(id);
    if (isOver || (execution.status !== "running" && execution.status !== "queued")) return execution;
    isOver = await Promise.race([interrupted.then(() => true), sleep(pauseMs, false)]);
  }
}

const barWidth = 20;

function bar(done: number, all: number): string {
  const full = Math.floor((done / all) * barWidth);
  return `${styled("cyan", "█".repeat(full))}${styled("dim", "░".repeat(barWidth - full))} ${done}/${all}`;
}

function lineOf({ execution_id, restarted_from: from, status, error }: Done): string {
  const [word, why] = [status === "refused" ? styled("red", status) : statusText(status), error?.message ?? ""];
  return `${word} ${execution_id === null ? from : `${execution_id} from ${from}`}${why && `: ${cell(why, 80)}`}`;
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts `30m`, `12h`, `2d` before now, a date or a time to ISO 8601. Throws `InvalidInput`. */
export function readSince(text: string, now = Date.now()): string {
  const [, number, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = number === undefined ? Date.parse(text) : now - Number(number) * (units[unit] ?? 0);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new InvalidInput(`--since ${text} is not a time - write 30m, 12h, 2d, or a date such as 2026-11-22`);
}
