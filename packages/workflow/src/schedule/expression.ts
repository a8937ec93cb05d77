import { cronProblem } from "../time/cron.ts";
import { type Cron, parseCron } from "./cron.ts";
import { nextTime } from "./next-time.ts";
import { instantOf } from "./zone.ts";

/** When a schedule is due. */
export type Expression =
  | { kind: "cron"; cron: Cron; timeZone: string }
  | { kind: "rate"; everyMs: number }
  | { kind: "at"; atMs: number | undefined };

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Undefined: it is none (EventBridge Scheduler, "Schedule types"). */
export function parseExpression(text: string, timeZone: string): Expression | undefined {
  const [, kind, inner = ""] = /^(cron|rate|at)\((.*)\)$/.exec(text) ?? [];
  if (kind === "cron" && cronProblem(inner) === undefined) return { kind, cron: parseCron(inner), timeZone };
  if (kind === "rate") return rateOf(inner);
  if (kind === "at") return atOf(inner, timeZone);
  return undefined;
}

function rateOf(text: string): Expression | undefined {
  const [, count, unit] = /^([1-9]\d{0,8}) (minute|hour|day)s?$/.exec(text) ?? [];
  return unit === undefined
    ? undefined
    : { kind: "rate", everyMs: Number(count) * unitMs[unit as keyof typeof unitMs] };
}

function atOf(text: string, timeZone: string): Expression | undefined {
  const [, date, time, second] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):(\d\d)$/.exec(text) ?? [];
  const utc = new Date(`${date}T${time}:${second}Z`);
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(text)) return undefined;
  const [year = 0, month = 0, day = 0] = (date ?? "").split("-").map(Number);
  const wall = { year, month, day, hour: utc.getUTCHours(), minute: utc.getUTCMinutes() };
  const ms = instantOf(timeZone, wall);
  return { kind: "at", atMs: ms === undefined ? undefined : ms + Number(second) * 1000 };
}

/** The first time after `afterMs`; a rate counts from `startMs`, which is its first. Undefined: never again. */
export function dueAfter(expression: Expression, startMs: number, afterMs: number): number | undefined {
  if (expression.kind === "cron") return nextTime(expression.cron, expression.timeZone, afterMs);
  if (expression.kind === "rate") {
    const { everyMs } = expression;
    return afterMs < startMs ? startMs : startMs + (Math.floor((afterMs - startMs) / everyMs) + 1) * everyMs;
  }
  const { atMs } = expression;
  return atMs !== undefined && atMs > afterMs ? atMs : undefined;
}
