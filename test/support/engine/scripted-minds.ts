import type { PinnedCode } from "@nova/engine";
import type { Minds } from "./authors.ts";
import type { Random } from "./random.ts";

/**
 * The answers of models in a story (a run whose calls the test performs one by one). Each repetition of a request adds
 * one `!` to the answer, so that no two answers are equal.
 */
export interface MindScript {
  pinned?: PinnedCode;
  /** Code of the analysis; absent if the task needs none. */
  analysis?: string;
  /** The code that the model writes, by attempt. */
  codes?: string[];
  /** Code that starts with this text fails the check without a model. */
  invalid?: string;
  /** Verdicts of the output validator, by attempt; absent if it accepts every result. */
  verdicts?: boolean[];
}

/** Returns models that follow the script. A request beyond the script fails the story. */
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

/** Returns models with random answers: no two answers are equal, and one in four is useless. */
export function randomMinds(random: Random): Minds {
  let written = 0;
  const next = (what: string) => `# ${what} ${++written}`;
  const pinned = new Map<string, PinnedCode | null>();
  return {
    pinned: ({ node: { id } }) => {
      const code = `# pinned for ${id}`;
      const analysis = random.chance(0.5) ? { analysis: `# look for ${id}` } : {};
      const known = pinned.get(id);
      const chosen =
        known !== undefined ? known : random.chance(0.4) ? { code, ...analysis, generation: `g ${id}` } : null;
      pinned.set(id, chosen);
      return chosen;
    },
    needsAnalysis: () => random.chance(0.4),
    writeAnalysis: () => next("analysis"),
    writeCode: () => next("code"),
    isValid: (code) => code.at(-1) !== "7",
    isDone: () => random.chance(0.75),
    reply: ({ tools, mayCall }) => {
      if (!mayCall || random.chance(0.3))
        return {
          text: "",
          calls: [],
          answer: random.chance(0.9) ? { json: `"${next("answer")}"` } : { problem: "odd" },
        };
      const calls = Array.from({ length: 1 + random.below(3) }, () => {
        const name = random.chance(0.9) ? random.pick(tools).name : "unknown";
        return { id: next("call"), name, arguments: JSON.stringify({ n: next("argument") }) };
      });
      return { text: "", calls };
    },
  };
}
