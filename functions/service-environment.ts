import { z } from "zod";

/** What a function that needs the service is told by its environment, beyond what every function is. */
export const ServiceEnvironment = z.object({
  NOVA_TABLE: z.string().default("nova"),
  /** ARN of the functions that state machines call, `{name}` in the place of the name; absent: those of a laptop. */
  NOVA_FUNCTION_ARN: z.string().includes("{name}").optional(),
  /** Sandbox template of workflows without requirements. */
  E2B_TEMPLATE_ID: z.string().default("nova"),
});

export type ServiceEnvironment = z.infer<typeof ServiceEnvironment>;
