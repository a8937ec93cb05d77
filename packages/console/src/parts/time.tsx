import { formatDuration } from "@nova/client";
import { type JSX, useEffect, useState } from "react";
import { readContact } from "../api/contact.ts";

const day: Intl.DateTimeFormatOptions = { month: "short", day: "numeric" };
const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const dayAndClock = new Intl.DateTimeFormat("en", { ...day, ...clock });
const clockAlone = new Intl.DateTimeFormat("en", clock);
const exactly = new Intl.DateTimeFormat("en", {
  weekday: "short",
  year: "numeric",
  ...day,
  ...clock,
  fractionalSecondDigits: 3,
  timeZoneName: "short",
});

/** Shows a time in the viewer's time zone, and milliseconds on hover. */
export function Time({ at }: { at: string }): JSX.Element {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exactly.format(ms)}>
      {formatMoment(ms)}
    </time>
  );
}

/** Formats a time. Adds the day, unless the day is today. */
export function formatMoment(ms: number): string {
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return (isToday ? clockAlone : dayAndClock).format(ms);
}

export function formatClock(ms: number): string {
  return clockAlone.format(ms);
}

/** Shows `ms`, or counts up from `from` while `ms` is null. */
export function Duration({ from, ms }: { from: string; ms: number | null }): JSX.Element {
  return <span>{ms === null ? <Counting from={from} /> : formatDuration(ms)}</span>;
}

function Counting({ from }: { from: string }): JSX.Element {
  const now = useNow();
  return <>{formatDuration(Math.max(0, now - Date.parse(from)))}</>;
}

const tickMs = 500;

/** Returns the time in milliseconds since 1970, and renders the component again while time passes. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      // While the server does not answer, the page does not know whether the run continues.
      if (!readContact().isLost) setNow(Date.now());
    }, tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
