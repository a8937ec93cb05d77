import { formatDuration } from "@nova/client";
import type { Execution, ExecutionStore } from "@nova/engine";
import type { RunEvent, Unstarted } from "@nova/local";
import { printSoon, styled } from "../output/terminal.ts";
import { diagnosticsOf, findingLines, statusText, untrustedLine } from "../output/text.ts";
import { eventLine, MapProgress } from "../run/lines.ts";
import type { PublishedFolder, PublishOutcome } from "./publisher.ts";

/** Reports events while `nova dev` is open: as lines for people, or as one JSON object per line. */
export interface DevReporter {
  published(outcome: PublishOutcome): void;
  queued(run: { execution: string; workflow: string }): void;
  started(run: { execution: string }): void;
  step(event: RunEvent): void;
  ended(execution: Execution): void;
  unstarted(delivery: Unstarted): void;
}

/** Delays all reports until `release` is called, because the first printed lines must be the URL and the key. */
export function holdReports(reporter: DevReporter): DevReporter & { release(): void } {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const later = Object.entries(reporter).map(([kind, printTimed]: [string, (news: never) => void]) => {
    return [kind, (news: never) => void (isHeld ? waiting.push(() => printTimed(news)) : printTimed(news))];
  });
  return {
    ...(Object.fromEntries(later) as DevReporter),
    release() {
      isHeld = false;
      for (const line of waiting.splice(0)) line();
    },
  };
}

function say(text: string): void {
  printSoon(`${styled("dim", new Date().toTimeString().slice(0, 8))} ${text}`);
}

const maps = new MapProgress((execution, text) => say(`${styled("dim", execution)}${text}`));

export const textReporter: DevReporter = {
  published(outcome) {
    const { folder, findings } = outcome;
    const lines = findingLines(findings);
    if ("problem" in outcome) {
      const summary = findings.length > 0 ? `${folder} is not valid` : `${folder}: ${outcome.problem}`;
      say([...lines, styled("red", `✗ ${summary}`)].join("\n"));
      return;
    }
    const { id, version } = outcome;
    say([...lines, `${styled("green", "✓")} ${id} version ${version} ${newsOf(outcome)}`].join("\n"));
  },
  queued({ execution, workflow }) {
    say(`${styled("dim", execution)}  ${statusText("queued")} ${workflow} waits for a slot, or for the end of a pause`);
  },
  started({ execution }) {
    say(`${styled("dim", execution)}  ${statusText("running")} from the queue`);
  },
  step(event) {
    if (event.state === "ended" || maps.absorb(event.execution, event)) return;
    say(`${styled("dim", event.execution)}${eventLine(event)}`);
  },
  ended({ id, workflowId, status, durationMs, error }) {
    maps.end(id);
    const time = durationMs === undefined ? "" : ` in ${formatDuration(durationMs)}`;
    const why = error ? `: node "${error.node}" (${error.class}): ${error.message}` : "";
    say(`${styled("dim", id)}  ${statusText(status)} ${workflowId}${time}${why}`);
  },
  unstarted({ id, type, status, workflow, trigger, from, about, reason }) {
    const whose = workflow === null ? "" : ` for ${trigger} of ${workflow}`;
    const [sender, subject] = [from, about].map((text) => untrustedLine(text, 60));
    const what = `${sender && ` from ${sender}`}${subject && ` (${subject})`}`;
    say(`${styled("dim", id)}  ${styled("red", status)} ${type}${whose}${what}: ${untrustedLine(reason, 300)}`);
  },
};

export const jsonReporter: DevReporter = {
  published(outcome) {
    const { folder, findings } = outcome;
    const diagnostics = diagnosticsOf(findings);
    if ("problem" in outcome) printLine({ folder, published: false, error: outcome.problem, diagnostics });
    else printLine({ folder, published: true, id: outcome.id, version: outcome.version, diagnostics });
  },
  queued({ execution, workflow }) {
    printLine({ execution_id: execution, workflow, state: "queued" });
  },
  started({ execution }) {
    printLine({ execution_id: execution, state: "begun" });
  },
  step({ execution, ...event }) {
    if (event.state !== "ended") printLine({ execution_id: execution, ...event });
  },
  ended({ id, workflowId, status, durationMs, error }) {
    const time = durationMs ?? null;
    printLine({ execution_id: id, workflow: workflowId, status, duration_ms: time, error: error ?? null });
  },
  unstarted({ id, type, status, workflow, trigger, client, from, about, reason }) {
    printLine({ delivery_id: id, type, status, workflow, trigger, client_slug: client, from, about, reason });
  },
};

function newsOf({ id, version, created, isNew, active }: PublishedFolder): string {
  if (created) return "is published";
  if (isNew) return "is used by new runs again";
  return active === version
    ? "is unchanged"
    : `is unchanged; new runs use version ${active} - nova activate ${id} ${version} changes that`;
}

function printLine(value: object): void {
  printSoon(JSON.stringify(value), true);
}

const pauseMs = 1000;
const share = 1 / 20;

/** Reports when a run waits for a slot, and when it starts. It polls, because queued runs send no events. */
export function watchQueue(executions: Pick<ExecutionStore, "open">, report: Pick<DevReporter, "queued" | "started">) {
  const known = new Map<string, "queued" | "started">();

  async function look(): Promise<void> {
    const open = new Set<string>();
    for await (const { id, workflowId, status } of executions.open()) {
      open.add(id);
      if (status !== "queued") noteStart(id);
      else if (!known.has(id)) {
        known.set(id, "queued");
        report.queued({ execution: id, workflow: workflowId });
      }
    }
    for (const id of known.keys()) if (!open.has(id)) known.delete(id);
  }

  /** Reports once that a queued run has started. */
  function noteStart(execution: string): void {
    if (known.get(execution) === "queued") report.started({ execution });
    known.set(execution, "started");
  }

  function watch(onFailure: (error: unknown) => void): Disposable {
    let timer: NodeJS.Timeout;
    const lookAfter = (ms: number) => {
      timer = setTimeout(async () => {
        const since = performance.now();
        await look().catch(onFailure);
        if (!isOver) lookAfter(Math.max(pauseMs, (performance.now() - since) / share));
      }, ms).unref();
    };
    let isOver = false;
    lookAfter(0);
    return {
      [Symbol.dispose]() {
        isOver = true;
        clearTimeout(timer);
      },
    };
  }

  return { look, noteStart, watch };
}
