/** This file formats values that the console and the command line show in the same way. */

/** Formats a duration, such as `480 ms`, `3.20 s`, `4 min 5 s`, `2 h 10 min` or `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours < 1) return `${minutes} min ${seconds % 60} s`;
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a percentile, which the API rounds to two significant digits. */
export function formatPercentile(ms: number): string {
  return ms < 1000 || ms >= 59_500 ? formatDuration(ms) : `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;
}

/** Formats a share as a percentage with one decimal. Rounds down, so that only a share of 1 becomes 100 %. */
export function formatRate(rate: number): string {
  const isWhole = rate === 0 || rate === 1;
  return `${isWhole ? rate * 100 : (Math.floor(rate * 1000 + 1e-9) / 10).toFixed(1)} %`;
}

/** Formats dollars. Amounts below one dollar keep four decimals, because a run may cost less than a cent. */
export function formatUsd(usd: number): string {
  if (usd > 0 && usd < 0.0001) return "< $0.0001";
  if (usd > 0 && usd < 1) return `$${usd.toFixed(4)}`;
  return `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** The classes of recorded time: a node first waits, then gets a sandbox, and then its model and its code work. */
export const timeClasses = ["waiting", "sandbox", "model", "code"] as const;
export type TimeClass = (typeof timeClasses)[number];
export type Times = Record<`${TimeClass}_ms`, number>;

interface TimedEntry {
  times: Times;
  branches?: readonly { entries: readonly TimedEntry[] }[] | undefined;
}

/**
 * Sums the recorded times of entries and of their branches. A node that runs another execution waits for that
 * execution, so the time of the execution counts as waiting.
 */
export function sumTimes(entries: readonly TimedEntry[]): Times {
  const sums: Times = { waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 };
  for (const { times, branches = [] } of entries) {
    const inside = sumTimes(branches.flatMap((branch) => branch.entries));
    for (const name of timeClasses) sums[`${name}_ms`] += times[`${name}_ms`] + inside[`${name}_ms`];
  }
  return sums;
}

interface RequestedCall {
  id: string;
  name: string;
  arguments: string;
  refused?: string | undefined;
}

/** Returns the calls of an agent's reply, each with the branch in which it ran. A refused call has no branch. */
export function callsOf<B extends { branch: string }>({
  reply,
  branches = [],
}: {
  reply?: { calls: readonly RequestedCall[] } | null | undefined;
  branches?: readonly B[] | undefined;
}): (RequestedCall & { branch?: B | undefined })[] {
  let ran = 0;
  return (reply?.calls ?? []).map((call) => {
    if (call.refused !== undefined) return call;
    const number = String(ran++);
    return { ...call, branch: branches.find(({ branch }) => branch === number) };
  });
}
