import { z } from "zod";

export const aYearSeconds = 31_536_000;

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

const aYear = {
  min: 1,
  max: aYearSeconds,
  error: "must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year",
};

/** Whole seconds, or `"15m"`; comes out as seconds. */
export function duration(description: string, { min, max, error } = aYear) {
  const number = z.int({ error }).min(min, { error }).max(max, { error });
  const text = z.string({ error }).regex(/^[1-9]\d{0,7}[smhd]$/, { error });
  return z
    .union([number, text], { error })
    .transform((written, context) => {
      const seconds = typeof written === "number" ? written : secondsOf(written);
      if (seconds > max) context.addIssue({ code: "custom", message: error, input: written });
      return seconds;
    })
    .describe(description);
}

function secondsOf(text: string): number {
  return Number(text.slice(0, -1)) * secondsIn[text.at(-1) as keyof typeof secondsIn];
}
