import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { shown } from "../../findings/shown.ts";
import { isObject } from "../../json/loose.ts";
import { cronProblem } from "../../time/cron.ts";
import { isLocalTime } from "../../time/local-time.ts";
import { isTimeZone } from "../../time/zone.ts";

type Written = Record<string, unknown>;
type Place = { name: string; path: string };

const kinds = ["cron", "every", "at"] as const;

/** One time, in a time zone where that says anything. */
export function* checkSchedule(written: Written, place: Place): Iterable<Finding> {
  const { name, path } = place;
  const given = kinds.filter((field) => written[field] !== undefined);
  if (given.length === 0) yield finding("NOVA123", path, `${name} does not say when - add cron, every or at`);
  for (const field of given.slice(1)) {
    yield finding("NOVA123", at(path, field), `${name} has both ${given[0]} and ${field} - keep one of them`);
  }
  yield* checkTimes(written, place);
  yield* checkZone(written, place);
  yield* checkContext(written, place);
}

function* checkTimes({ cron, at: time }: Written, { name, path }: Place): Iterable<Finding> {
  const problem = typeof cron === "string" && cron.trim() !== "" ? cronProblem(cron) : undefined;
  if (problem !== undefined) yield finding("NOVA123", at(path, "cron"), `${name}: cron ${problem}`);
  if (typeof time === "string" && time.trim() !== "" && !isLocalTime(time)) {
    const message = `${name}: at is ${shown(time)}, which is no time - write such as 2026-01-31T09:00, with its zone in timezone`;
    yield finding("NOVA123", at(path, "at"), message);
  }
}

/** What every run would be refused for. */
function* checkContext({ context }: Written, { name, path }: Place): Iterable<Finding> {
  if (!isObject(context)) return;
  for (const key of Object.keys(context).filter((key) => key.startsWith("$"))) {
    const message = `${name}: its context has the key "${key}" - such keys mark NOVA's references: use another name`;
    yield finding("NOVA502", at(path, "context", key), message);
  }
}

function* checkZone({ timezone, every }: Written, { name, path }: Place): Iterable<Finding> {
  if (timezone === undefined) return;
  if (every !== undefined) {
    yield finding("NOVA124", at(path, "timezone"), `${name}: every needs no time zone - remove timezone`);
  } else if (typeof timezone === "string" && timezone.trim() !== "" && !isTimeZone(timezone)) {
    const message = `${name}: there is no time zone ${shown(timezone)} - write its name, such as Europe/Madrid`;
    yield finding("NOVA124", at(path, "timezone"), message);
  }
}
