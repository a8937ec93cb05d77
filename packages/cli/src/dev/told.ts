import { styleText } from "node:util";
import type { Execution } from "@nova/engine";
import type { RunEvent } from "@nova/local";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { eventLine } from "../output/run.ts";
import { duration, statusText } from "../output/text.ts";
import type { PublishOutcome } from "./publisher.ts";

/** What `nova dev` says while it is open: lines for people, or one JSON object a line. */
export interface Teller {
  published(outcome: PublishOutcome): void;
  /** It waits for a slot. */
  queued(run: { execution: string; workflow: string }): void;
  /** It has waited for one, and has it. */
  begun(run: { execution: string }): void;
  step(event: RunEvent): void;
  ended(execution: Execution): void;
}

/** Says nothing before `release`, and then all of it: the first lines are those that name the address and the key. */
export function held(tell: Teller): Teller & { release(): void } {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const say = (line: () => void) => void (isHeld ? waiting.push(line) : line());
  return {
    published: (outcome) => say(() => tell.published(outcome)),
    queued: (run) => say(() => tell.queued(run)),
    begun: (run) => say(() => tell.begun(run)),
    step: (event) => say(() => tell.step(event)),
    ended: (execution) => say(() => tell.ended(execution)),
    release() {
      isHeld = false;
      for (const line of waiting.splice(0)) line();
    },
  };
}

export const inWords: Teller = {
  published(outcome) {
    const { folder, findings } = outcome;
    const lines = findingLines(findings);
    if ("problem" in outcome) {
      const summary = findings.length > 0 ? `${folder} is not valid` : `${folder}: ${outcome.problem}`;
      console.log([...lines, styleText("red", `✗ ${summary}`)].join("\n"));
      return;
    }
    const news = outcome.created ? "is published" : "is as it was";
    console.log([...lines, `${styleText("green", "✓")} ${outcome.id} version ${outcome.version} ${news}`].join("\n"));
  },
  queued({ execution, workflow }) {
    console.log(`${styleText("dim", execution)}  ${statusText("queued")} ${workflow} waits for a slot`);
  },
  begun({ execution }) {
    console.log(`${styleText("dim", execution)}  ${statusText("running")} from the queue`);
  },
  step(event) {
    if (event.state !== "ended") console.log(`${styleText("dim", event.execution)}${eventLine(event)}`);
  },
  ended({ id, workflowId, status, durationMs, error }) {
    const time = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
    const why = error ? `: node "${error.node}" (${error.class}): ${error.message}` : "";
    console.log(`${styleText("dim", id)}  ${statusText(status)} ${workflowId}${time}${why}`);
  },
};

export const inJson: Teller = {
  published(outcome) {
    const { folder, findings } = outcome;
    const diagnostics = diagnosticsOf(findings);
    if ("problem" in outcome) print({ folder, published: false, error: outcome.problem, diagnostics });
    else print({ folder, published: true, id: outcome.id, version: outcome.version, diagnostics });
  },
  queued({ execution, workflow }) {
    print({ execution_id: execution, workflow, state: "queued" });
  },
  begun({ execution }) {
    print({ execution_id: execution, state: "begun" });
  },
  step({ execution, ...event }) {
    if (event.state !== "ended") print({ execution_id: execution, ...event });
  },
  ended({ id, workflowId, status, durationMs, error }) {
    const time = durationMs ?? null;
    print({ execution_id: id, workflow: workflowId, status, duration_ms: time, error: error ?? null });
  },
};

function print(value: object): void {
  console.log(JSON.stringify(value));
}
