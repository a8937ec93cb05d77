import type { Json } from "../../json.ts";
import type { HistoryEvent } from "../history.ts";

/** The first line of an execution's file. */
export interface Opening {
  format: 1;
  /** The seed of the execution's random numbers, UUIDs and task tokens, in hex. */
  seed: string;
  /** Milliseconds since the epoch, as in every field `at` of this file. */
  at: number;
}

/**
 * An input that has reached an execution from outside. The events after it in the file, until the next input, are its
 * consequences.
 */
export interface Input {
  /** The number of the answered request. The first request is 1. */
  to: number;
  at: number;
  value?: Json;
  error?: { name: string; message: string };
}

export type Line = Opening | Input | HistoryEvent;

export interface Journal {
  /** Undefined if an old version of the emulator wrote the file: it recorded only events. */
  opening: Opening | undefined;
  inputs: Input[];
  events: HistoryEvent[];
}

export function journalIn(lines: readonly Line[]): Journal {
  const [first] = lines;
  return {
    opening: first && "seed" in first ? first : undefined,
    inputs: lines.filter((line) => "to" in line),
    events: lines.filter((line) => "type" in line),
  };
}
