import type { TraceEntry } from "@nova/engine";
import type { LogPiece } from "../api/follow-logs.ts";
import { failureLines } from "./attempts.ts";
import { logLines, placeLine } from "./logs.ts";
import { styled } from "./terminal.ts";
import { indent } from "./text.ts";

/** A longer line is printed before its end arrives. */
const longestLine = 4096;

/** Formats logs that arrive in pieces. A title precedes the lines whenever the node changes. */
export class LogLines {
  #speaker = "";
  /** Incomplete last lines, by entry. */
  readonly #partial = new Map<string, string>();

  of(piece: LogPiece): string[] {
    if (piece.kind === "crowd") {
      const rest = "the others' output is printed when they end";
      return [styled("dim", `${piece.count} nodes are running, ${piece.followed} of them are followed; ${rest}`)];
    }
    if (piece.kind === "printed") return this.#printed(piece);
    return piece.kind === "ended" ? this.#ended(piece) : this.#failed(piece);
  }

  #printed({ at, text, leftOut }: Extract<LogPiece, { kind: "printed" }>): string[] {
    const name = `${at.scope}#${at.seq}`;
    const whole = (this.#partial.get(name) ?? "") + text;
    // An incomplete line is printed if no text was added since the last look.
    const end = text === "" || whole.length > longestLine ? whole.length : whole.lastIndexOf("\n") + 1;
    this.#partial.set(name, whole.slice(end));
    const gap = leftOut > 0 ? [styled("dim", `  ... ${leftOut} bytes are left out`)] : [];
    const lines = [...gap, ...(end > 0 ? [indent(whole.slice(0, end))] : [])];
    return lines.length > 0 ? [...this.#title(at), ...lines] : [];
  }

  #failed({ at, step }: Extract<LogPiece, { kind: "failed" }>): string[] {
    const logs = this.#rest(at) + (step.logs ?? "");
    return [...this.#title(at), ...(logs === "" ? [] : [indent(logs)]), ...failureLines(step)];
  }

  #ended({ entry, logs, steps }: Extract<LogPiece, { kind: "ended" }>): string[] {
    const [title, ...lines] = logLines({ ...entry, steps, logs: this.#rest(entry) + logs });
    return title === undefined ? [] : [...this.#title(entry), ...lines];
  }

  #rest({ scope, seq }: Pick<TraceEntry, "scope" | "seq">): string {
    const name = `${scope}#${seq}`;
    const partial = this.#partial.get(name) ?? "";
    this.#partial.delete(name);
    return partial;
  }

  #title(place: Parameters<typeof placeLine>[0]): string[] {
    const title = placeLine(place);
    if (title === this.#speaker) return [];
    this.#speaker = title;
    return [title];
  }
}
