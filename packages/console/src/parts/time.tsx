import { type JSX, useSyncExternalStore } from "react";

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
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={exactly.format(date)}>
      {(isToday ? clockAlone : dayAndClock).format(date)}
    </time>
  );
}

/** Formats a time; the day is included unless it is today. */
export function formatMoment(ms: number): string {
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return (isToday ? clockAlone : dayAndClock).format(ms);
}

export function formatClock(ms: number): string {
  return clockAlone.format(new Date(ms));
}

/** Formats a duration, such as `480 ms`, `3.2 s`, `4 m 05 s`, `2 h 10 m` or `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const [seconds, minutes, hours] = [1000, 60_000, 3_600_000].map((unit) => Math.floor(ms / unit)) as [
    number,
    number,
    number,
  ];
  if (minutes < 60) return `${minutes} m ${padTwo(seconds % 60)} s`;
  if (hours < 48) return `${hours} h ${padTwo(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function padTwo(number: number): string {
  return String(number).padStart(2, "0");
}

/** Shows `ms`, or counts up from `from` while `ms` is null. */
export function Duration({ from, ms }: { from: string; ms: number | null }): JSX.Element {
  return <span>{ms === null ? <Counting from={from} /> : formatDuration(ms)}</span>;
}

function Counting({ from }: { from: string }): JSX.Element {
  const now = useNow();
  return <>{formatDuration(Math.max(0, now - Date.parse(from)))}</>;
}

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const hear of listeners) hear();
  }, 500);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function formatUsd(usd: number): string {
  return usd === 0 ? "" : `$${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
