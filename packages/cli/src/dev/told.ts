import type { Execution } from "@nova/engine";
import type { RunEvent, Unstarted } from "@nova/local";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { MapProgress } from "../output/map-progress.ts";
import { print, styled } from "../output/terminal.ts";
import { duration, statusText, strangersText } from "../output/text.ts";
import { eventLine } from "../run/lines.ts";
import type { PublishedFolder, PublishOutcome } from "./publisher.ts";

/** What `nova dev` says while it is open: lines for people, or one JSON object a line. */
export interface Teller {
  published(outcome: PublishOutcome): void;
  /** It waits for a slot. */
  queued(run: { execution: string; workflow: string }): void;
  /** It has waited for one, and has it. */
  begun(run: { execution: string }): void;
  step(event: RunEvent): void;
  ended(execution: Execution): void;
  /** It came in for a trigger, and starts no run. */
  unstarted(delivery: Unstarted): void;
}

/** Says nothing before `release`, and then all of it: the first lines are those that name the address and the key. */
export function held(tell: Teller): Teller & { release(): void } {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const later = Object.entries(tell).map(([kind, say]: [string, (news: never) => void]) => {
    return [kind, (news: never) => void (isHeld ? waiting.push(() => say(news)) : say(news))];
  });
  return {
    ...(Object.fromEntries(later) as Teller),
    release() {
      isHeld = false;
      for (const line of waiting.splice(0)) line();
    },
  };
}

/** A line of `nova dev`: when it was said, in the time of this place, and what. */
function say(text: string): void {
  print(`${styled("dim", new Date().toTimeString().slice(0, 8))} ${text}`);
}

const maps = new MapProgress((execution, text) => say(`${styled("dim", execution)}${text}`));

export const inWords: Teller = {
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
  begun({ execution }) {
    say(`${styled("dim", execution)}  ${statusText("running")} from the queue`);
  },
  step(event) {
    if (event.state === "ended" || maps.takes(event.execution, event)) return;
    say(`${styled("dim", event.execution)}${eventLine(event)}`);
  },
  ended({ id, workflowId, status, durationMs, error }) {
    maps.end(id);
    const time = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
    const why = error ? `: node "${error.node}" (${error.class}): ${error.message}` : "";
    say(`${styled("dim", id)}  ${statusText(status)} ${workflowId}${time}${why}`);
  },
  unstarted({ id, type, status, workflow, trigger, from, about, reason }) {
    const whose = workflow === null ? "" : ` for ${trigger} of ${workflow}`;
    const [sender, subject] = [from, about].map((text) => strangersText(text, 60));
    const what = `${sender && ` from ${sender}`}${subject && ` (${subject})`}`;
    say(`${styled("dim", id)}  ${styled("red", status)} ${type}${whose}${what}: ${strangersText(reason, 300)}`);
  },
};

export const inJson: Teller = {
  published(outcome) {
    const { folder, findings } = outcome;
    const diagnostics = diagnosticsOf(findings);
    if ("problem" in outcome) printLine({ folder, published: false, error: outcome.problem, diagnostics });
    else printLine({ folder, published: true, id: outcome.id, version: outcome.version, diagnostics });
  },
  queued({ execution, workflow }) {
    printLine({ execution_id: execution, workflow, state: "queued" });
  },
  begun({ execution }) {
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
  if (isNew) return "is what new runs use again";
  return active === version
    ? "is as it was"
    : `is as it was; new runs use version ${active} - nova activate ${id} ${version} changes that`;
}

function printLine(value: object): void {
  print(JSON.stringify(value), true);
}
