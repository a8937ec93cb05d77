import { printStatus } from "./terminal.ts";

/** The number of runs that were checked so far. `total` is undefined as long as the runs are not counted. */
export interface Progress {
  done: number;
  total: number | undefined;
  broken: number;
}

const barWidth = 24;
/** Milliseconds between two changes of the line. */
const pauseMs = 100;

/**
 * A line on standard error that shows how many runs were checked. Without a terminal there is no line, so that a file or
 * another program gets only results.
 */
export class ProgressLine {
  readonly #isShown = process.stderr.isTTY === true;
  readonly #startedMs = performance.now();
  #changedMs = Number.NEGATIVE_INFINITY;

  /** Whether standard error is a terminal, so that the line is shown. Otherwise the caller need not count the runs. */
  get isShown(): boolean {
    return this.#isShown;
  }

  show(progress: Progress): void {
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#changedMs < pauseMs) return;
    this.#changedMs = nowMs;
    printStatus(progressText(progress, nowMs - this.#startedMs));
  }

  /** Removes the line. The next `show` writes it again. */
  clear(): void {
    if (!this.#isShown) return;
    this.#changedMs = Number.NEGATIVE_INFINITY;
    printStatus("");
  }
}

/** `[#####-------------------]  2,000 of 10,000 runs, 250/s, 0 broken`; without the bar as long as the total is unknown. */
export function progressText({ done, total, broken }: Progress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? Math.round((1000 * done) / elapsedMs) : 0;
  const counts = [`${rate.toLocaleString("en")}/s`, `${broken.toLocaleString("en")} broken`].join(", ");
  if (total === undefined || total < done) return `${done.toLocaleString("en")} runs, ${counts}`;
  const filled = total === 0 ? barWidth : Math.floor((barWidth * done) / total);
  const bar = `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
  return `${bar} ${done.toLocaleString("en")} of ${total.toLocaleString("en")} runs, ${counts}`;
}
