import type { Json } from "../../json.ts";
import type { HistoryEvent } from "../history.ts";

/** First line of an execution's file. */
export interface Opening {
  format: 1;
  /** Hex: where the execution's chance, its UUIDs and its task tokens come from. */
  seed: string;
  /** Milliseconds since the epoch, as every `at`. */
  at: number;
}

/** Something that reached the execution from outside, and when. The events that follow in the file follow from it. */
export interface Input {
  /** What it answers: the first thing that the execution asked for is 1. */
  to: number;
  at: number;
  value?: Json;
  error?: { name: string; message: string };
}

export type Line = Opening | Input | HistoryEvent;

export interface Journal {
  /** Absent in files from before there were journals. */
  opening: Opening | undefined;
  inputs: Input[];
  events: HistoryEvent[];
}

export function journalIn(lines: readonly Line[]): Journal {
  const [first] = lines;
  return {
    opening: first && "seed" in first ? first : undefined,
    // Earlier versions also wrote heartbeats (`beat`), which answer nothing.
    inputs: lines.filter((line) => "to" in line && !("beat" in line)) as Input[],
    events: lines.filter((line) => "type" in line),
  };
}
