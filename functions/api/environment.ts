import { z } from "zod";

/** What the API is told beyond what every function of the service is. */
export const ApiEnvironment = z.object({
  /** Origins of pages that may call the API, with commas between; `*` for every one. */
  NOVA_CORS_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((origin) => origin.trim() || [])),
});
