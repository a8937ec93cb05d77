import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { rounded } from "./figure.ts";

export interface ProcessUsage {
  /**
   * Megabytes of memory in PSS, the count of Linux: if n processes share memory, each process counts one n-th of it.
   */
  mb: number;
  processes: number;
}

/** Returns the memory of a process with all its descendants, and how many processes these are. Works on Linux only. */
export function measureProcesses(pid: number): ProcessUsage {
  const children = Map.groupBy(readdirSync("/proc").filter(Number), (id) =>
    Number(/\) \S (\d+)/.exec(readProcFile(id, "stat"))?.[1]),
  );
  const tree = [String(pid)];
  for (const id of tree) tree.push(...(children.get(Number(id)) ?? []));
  const kilobytes = tree.map((id) => Number(/^Pss:\s+(\d+) kB$/m.exec(readProcFile(id, "smaps_rollup"))?.[1] ?? 0));
  return { mb: rounded(kilobytes.reduce((sum, one) => sum + one) / 1024, 0), processes: tree.length };
}

/** Returns the processor time that the main thread of a process has used, in milliseconds. Works on Linux only. */
export function mainThreadMs(pid: number): number {
  const fields = readProcFile(`${pid}/task/${pid}`, "stat").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

const msPerTick = 10;

/** Reads a file of a process in /proc; returns an empty text if the process has ended. */
function readProcFile(id: string, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/**
 * Measures the process tree repeatedly until `work` settles, and returns the highest values. The measurements take at
 * most a tenth of the time.
 */
export async function measurePeak(pid: number, work: Promise<unknown>): Promise<ProcessUsage> {
  const peak = { mb: 0, processes: 0 };
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const start = performance.now();
    const held = measureProcesses(pid);
    peak.mb = Math.max(peak.mb, held.mb);
    peak.processes = Math.max(peak.processes, held.processes);
    await Promise.race([over, sleep(Math.max(200, 10 * (performance.now() - start)))]);
  }
  await over;
  return peak;
}

/** Kills the child together with this process, so that a stopped bench leaves no process. */
export function killWithParent(child: ChildProcess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
