import type { PinnedCode } from "@nova/engine";
import type { Minds } from "./authors.ts";

/** What models answer in a story. Asked again for the same, they write it anew: with one `!` more. */
export interface MindScript {
  pinned?: PinnedCode;
  /** Code of the analysis; absent: the task needs none. */
  analysis?: string;
  /** One for each attempt. */
  codes?: string[];
  /** How code begins that the model-free check refuses. */
  invalid?: string;
  /** What the output validator says of each attempt; absent: always yes. */
  verdicts?: boolean[];
}

/** Whoever asks for more than the script has fails its story. */
export function scriptedMinds({ pinned, analysis, codes = [], invalid, verdicts }: MindScript): Minds {
  const asked = new Map<string, number>();
  const anew = (text: string | undefined, what: string): string => {
    if (text === undefined) throw new RangeError(`a model is asked for ${what} that the story does not tell of`);
    asked.set(what, (asked.get(what) ?? -1) + 1);
    return text + "!".repeat(asked.get(what) ?? 0);
  };
  return {
    pinned: () => pinned ?? null,
    needsAnalysis: () => analysis !== undefined,
    writeAnalysis: () => anew(analysis, "an analysis"),
    writeCode: (_task, attempt) => anew(codes[attempt - 1], `the code of attempt ${attempt}`),
    isValid: (code) => invalid === undefined || !code.startsWith(invalid),
    isDone: (_task, attempt) => verdicts?.[attempt - 1] ?? true,
  };
}
