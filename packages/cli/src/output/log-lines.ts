import type { LogPiece } from "../api/follow-logs.ts";
import { logLines, placeLine } from "./logs.ts";
import { indented } from "./section.ts";
import { styled } from "./terminal.ts";

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
    return piece.kind === "printed" ? this.#printed(piece) : this.#ended(piece);
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

  #ended({ entry, logs }: Extract<LogPiece, { kind: "ended" }>): string[] {
    const name = `${entry.scope}#${entry.seq}`;
    const begun = this.#begun.get(name);
    this.#begun.delete(name);
    // Earlier attempts of code that was followed have been told as they ran.
    const told = begun === undefined ? entry : { ...entry, steps: [] };
    const [title, ...lines] = logLines({ ...told, logs: (begun ?? "") + logs });
    return title === undefined ? [] : [...this.#title(entry), ...lines];
  }

  #title(place: Parameters<typeof placeLine>[0]): string[] {
    const title = placeLine(place);
    if (title === this.#speaker) return [];
    this.#speaker = title;
    return [title];
  }
}
