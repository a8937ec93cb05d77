import { z } from "zod";

/** What the API is told beyond what every function is. */
export const ApiEnvironment = z.object({
  NOVA_TABLE: z.string().default("nova"),
  /** Origins of pages that may call the API, with commas between; `*` for every one. */
  NOVA_CORS_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((origin) => origin.trim() || [])),
  /** ARN of the functions that state machines call, `{name}` in the place of the name; absent: those of a laptop. */
  NOVA_FUNCTION_ARN: z.string().includes("{name}").optional(),
  /** Sandbox template of workflows without requirements. */
  E2B_TEMPLATE_ID: z.string().default("nova"),
});
