import type { CloudOptions, LocalCloud } from "@nova/local";
import { exitCodes } from "./errors.ts";
import { Interrupt } from "./interrupt.ts";
import { printError, styled } from "./output/terminal.ts";

/** Opens the cloud of `.nova`, or of `NOVA_DATA_DIR`. */
export async function openCloud(options: Partial<CloudOptions> = {}): Promise<LocalCloud> {
  const { openLocalCloud } = await import("@nova/local");
  const warn = (sentence: string) => printError(styled("yellow", `nova: ${sentence}`));
  return openLocalCloud({ dataDir: dataFolder(), warn, ...options });
}

/** Why a command that is done does not end yet. */
export const othersRuns = "waiting for the runs of other terminals; Ctrl-C interrupts them";

/** For a command that asks something and is done. */
export async function withCloud<T>(work: (cloud: LocalCloud) => Promise<T>): Promise<T> {
  const cloud = await openCloud({ drives: false });
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}

/** Where nobody else keeps the cloud open it stays with the executions until they have ended or wait for somebody. */
export async function withDrivingCloud(work: (cloud: LocalCloud) => Promise<string[]>): Promise<void> {
  const interrupt = new Interrupt();
  const cloud = await openCloud();
  const hint = "the run goes on in here; Ctrl-C leaves it where it waits, and interrupts what is at work";
  const timer = setTimeout(() => printError(hint), 2000);
  try {
    const executions = await work(cloud);
    // Where another process keeps the cloud open, it stays with them.
    if (cloud.role === "owner") {
      const atRest = Promise.all(executions.map((id) => untilAtRest(cloud, id)));
      await Promise.race([atRest, interrupt.wish()]);
    }
  } finally {
    clearTimeout(timer);
    await closeCloud(cloud, interrupt, hint);
  }
}

/** Until it has ended, or somebody's answer is what it goes on with: a branch may wait that had begun to long before. */
async function untilAtRest(cloud: LocalCloud, execution: string): Promise<void> {
  const { readTrace } = await import("@nova/engine");
  const resting = Promise.withResolvers<void>();
  const isResting = async () => {
    if (!(await cloud.ports.tasks.hasOpen(execution))) return false;
    const { nodes } = (await readTrace(cloud.ports, execution)).atWork;
    return nodes.length > 0 && nodes.every(({ waits_for }) => waits_for !== null);
  };
  const look = () => isResting().then((rests) => rests && resting.resolve(), resting.reject);
  const ended = cloud.untilEnd(execution, look);
  await look();
  await Promise.race([ended, resting.promise]);
}

/**
 * Stays until nothing is under way, or until it is told not to; `hint` says so to whoever waits for the prompt. The doors
 * close at once, and requests that have come in before are answered first.
 */
export async function closeCloud(
  cloud: LocalCloud,
  interrupt: Interrupt,
  hint: string,
  doors?: AsyncDisposableStack,
): Promise<void> {
  const answered = doors?.disposeAsync();
  const timer = setInterval(() => {
    if (!cloud.isNeeded()) return;
    clearInterval(timer);
    printError(hint);
  }, 500);
  await Promise.race([
    cloud.close({ answered }),
    interrupt.again().then(() => {
      setTimeout(leaveTheRest, longestInterruptMs).unref();
      return cloud.close({ answered, interrupt: true });
    }),
  ]);
  clearInterval(timer);
}

/** A thousand runs take longer to interrupt: a second Ctrl-C ends the process all the same. */
const longestInterruptMs = 15_000;

/** As if the process were killed. */
function leaveTheRest(): never {
  printError(
    `${longestInterruptMs / 1000} seconds were too short for all runs; the next start closes the others as interrupted`,
  );
  process.exit(exitCodes.interrupted);
}

/** The folder of this machine's cloud: `NOVA_DATA_DIR`, or `.nova`. As everywhere, a variable that is empty is not set. */
export function dataFolder(): string {
  return process.env.NOVA_DATA_DIR || ".nova";
}
