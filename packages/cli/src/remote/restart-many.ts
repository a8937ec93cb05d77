import { setTimeout as sleep } from "node:timers/promises";
import type { Execution, NovaClient, RestartForecast, RestartOptions } from "@nova/client";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { tableLines } from "../output/table.ts";
import { styled, type Told } from "../output/terminal.ts";
import { cell, duration, statusText } from "../output/text.ts";

/** Which executions of a workflow are meant. */
export interface Choice {
  workflow: string;
  status: Execution["status"];
  client?: string;
  /** ISO 8601: began then or later. */
  from?: string;
  /** Class of the error that ended them. */
  error?: string;
}

export interface Chosen {
  /** Oldest first. */
  sources: Execution[];
  /** How many were restarted before. */
  skipped: number;
}

/** Whoever was restarted is not restarted again, and a part of another execution never is. */
export async function chooseSources(server: NovaClient, { error, ...query }: Choice): Promise<Chosen> {
  const wanted = { ...query, ...(error !== undefined && { error_class: error }) };
  const all = await Array.fromAsync(server.executions.list({ ...wanted, limit: 200 }));
  const fitting = all.filter((one) => !one.parent);
  const sources = fitting.filter(({ restarts }) => restarts.length === 0);
  return { sources: sources.reverse(), skipped: fitting.length - sources.length };
}

interface Work {
  wish: RestartOptions;
  atOnce: number;
  interrupt: Interrupt;
  /** Hears of each one that is done. */
  tell(line: string): void;
}

/** One that was restarted, or why not. */
interface Done {
  execution_id: string | null;
  restarted_from: string;
  status: Execution["status"] | "refused";
  error: Execution["error"] | { message: string };
}

/** Restarts them, some at once, each until it has ended or waits for somebody. Ctrl-C: no more of them begin. */
export async function restartMany(server: NovaClient, { sources, skipped }: Chosen, work: Work): Promise<Told> {
  const { wish, interrupt, tell } = work;
  const items: Done[] = [];
  const interrupted = interrupt.wish();
  await eachOf(sources, work, async ({ execution_id: id }) => {
    const done = await orRefused(id, async (): Promise<Done> => {
      const { execution_id } = await server.executions.restart(id, wish);
      const { status, error } = await atRest(server, execution_id, interrupted);
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
    ...(left > 0 ? [`${left} are left: the same command goes on with them`] : []),
  ];
  const isFine = items.every(({ status }) => ["completed", "waiting", "queued", "running"].includes(status));
  const code: ExitCode = interrupt.happened ? exitCodes.interrupted : isFine ? exitCodes.completed : exitCodes.failed;
  return { json: { items, skipped }, text, code };
}

/** What restarts of them would do. */
export async function forecastMany(server: NovaClient, { sources, skipped }: Chosen, work: Work): Promise<Told> {
  const items: ((RestartForecast & { execution_id: string }) | Done)[] = [];
  await eachOf(sources, work, async ({ execution_id }) => {
    const asked = { ...work.wish, dry_run: true as const };
    const forecast = async () => ({ execution_id, ...(await server.executions.restart(execution_id, asked)) });
    items.push(await orRefused(execution_id, forecast));
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

const nothing = "there is nothing to restart";

function skippedLines(skipped: number): string[] {
  return skipped === 0 ? [] : [`${skipped} ${skipped === 1 ? "was" : "were"} restarted before`];
}

async function eachOf<T>(items: readonly T[], { atOnce, interrupt }: Work, work: (item: T) => Promise<void>) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      if (interrupt.happened) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** What is wrong with one execution stops none of the others. */
async function orRefused<T>(id: string, work: () => Promise<T>): Promise<T | Done> {
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

async function atRest(server: NovaClient, id: string, interrupted: Promise<void>): Promise<Execution> {
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

/** ISO 8601 of `30m`, `12h`, `2d` before now, or of a date or a time. Throws `InvalidInput`. */
export function readSince(text: string, now = Date.now()): string {
  const [, number, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = number === undefined ? Date.parse(text) : now - Number(number) * (units[unit] ?? 0);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new InvalidInput(`--since ${text} is no time - write 30m, 12h, 2d, or a date such as 2026-11-22`);
}
