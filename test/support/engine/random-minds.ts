import type { PinnedCode } from "@nova/engine";
import type { Minds } from "./authors.ts";
import type { Random } from "./random.ts";

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
