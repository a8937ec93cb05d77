import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { rounded } from "./figure.ts";

export interface Held {
  /** Proportional memory (PSS): shared pages count by their share. */
  mb: number;
  processes: number;
}

/** Returns the memory and number of a process and its descendants. Works on Linux only. */
export function heldBy(pid: number): Held {
  const children = Map.groupBy(readdirSync("/proc").filter(Number), (id) =>
    Number(/\) \S (\d+)/.exec(told(id, "stat"))?.[1]),
  );
  const tree = [String(pid)];
  for (const id of tree) tree.push(...(children.get(Number(id)) ?? []));
  const kilobytes = tree.map((id) => Number(/^Pss:\s+(\d+) kB$/m.exec(told(id, "smaps_rollup"))?.[1] ?? 0));
  return { mb: rounded(kilobytes.reduce((sum, one) => sum + one) / 1024, 0), processes: tree.length };
}

/** Returns an empty text for an ended process. */
function told(id: string, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Returns the peak during the work. Sampling takes at most a tenth of the time. */
export async function peakOf(pid: number, work: Promise<unknown>): Promise<Held> {
  const peak = { mb: 0, processes: 0 };
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const start = performance.now();
    const held = heldBy(pid);
    peak.mb = Math.max(peak.mb, held.mb);
    peak.processes = Math.max(peak.processes, held.processes);
    await Promise.race([over, sleep(Math.max(200, 10 * (performance.now() - start)))]);
  }
  await over;
  return peak;
}

/** Kills the child together with this process, so that a stopped bench leaves no process. */
export function dieTogether(child: ChildProcess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
