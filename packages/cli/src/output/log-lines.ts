import type { TraceEntry } from "@nova/engine";
import type { LogPiece } from "../api/follow-logs.ts";
import { failureLines } from "./attempts.ts";
import { logLines, placeLine } from "./logs.ts";
import { styled } from "./terminal.ts";
import { indented } from "./text.ts";

/** A longer line is not waited for. */
const longestLine = 4096;

/** Lines of logs that come in pieces: under the name of their node wherever another one has spoken before. */
export class LogLines {
  #speaker = "";
  /** Lines whose end has not come, by link. */
  readonly #begun = new Map<string, string>();

  of(piece: LogPiece): string[] {
    if (piece.kind === "crowd") {
      const rest = "what the others print comes when they are done";
      return [styled("dim", `${piece.count} nodes are at work, ${piece.followed} of them are followed; ${rest}`)];
    }
    if (piece.kind === "printed") return this.#printed(piece);
    return piece.kind === "ended" ? this.#ended(piece) : this.#failed(piece);
  }

  #printed({ at, text, leftOut }: Extract<LogPiece, { kind: "printed" }>): string[] {
    const name = `${at.scope}#${at.seq}`;
    const whole = (this.#begun.get(name) ?? "") + text;
    // A line to which nothing has been added since the last look is shown as it is.
    const end = text === "" || whole.length > longestLine ? whole.length : whole.lastIndexOf("\n") + 1;
    this.#begun.set(name, whole.slice(end));
    const gap = leftOut > 0 ? [styled("dim", `  ... ${leftOut} bytes are left out`)] : [];
    const lines = [...gap, ...(end > 0 ? [indented(whole.slice(0, end))] : [])];
    return lines.length > 0 ? [...this.#title(at), ...lines] : [];
  }

  #failed({ at, step }: Extract<LogPiece, { kind: "failed" }>): string[] {
    const logs = this.#rest(at) + (step.logs ?? "");
    return [...this.#title(at), ...(logs === "" ? [] : [indented(logs)]), ...failureLines(step)];
  }

  #ended({ entry, logs, steps }: Extract<LogPiece, { kind: "ended" }>): string[] {
    const [title, ...lines] = logLines({ ...entry, steps, logs: this.#rest(entry) + logs });
    return title === undefined ? [] : [...this.#title(entry), ...lines];
  }

  #rest({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
    const name = `${scope}#${seq}`;
    const begun = this.#begun.get(name) ?? "";
    this.#begun.delete(name);
    return begun;
  }

  #title(place: Parameters<typeof placeLine>[0]): string[] {
    const title = placeLine(place);
    if (title === this.#speaker) return [];
    this.#speaker = title;
    return [title];
  }
}
