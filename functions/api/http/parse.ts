import type { z } from "zod";
import { Misfit } from "./errors.ts";
import { misfitMessage } from "./misfit-message.ts";

/** What fits the schema. Throws `Misfit`, which names every place. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string, status: 400 | 422): T {
  const result = schema.safeParse(value, { error: misfitMessage });
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, mostErrors).map(({ path, message }) => ({
    path: path.length === 0 ? "$" : `$.${path.join(".")}`,
    message,
  }));
  throw new Misfit(status, what, errors);
}

const mostErrors = 20;
