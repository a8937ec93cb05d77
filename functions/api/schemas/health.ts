import { z } from "zod";

export const Check = z
  .object({
    state: z.enum(["ok", "down"]),
    reason: z.string().optional().meta({ description: "where a key is missing or refused: which one" }),
    latency_ms: z.number(),
  })
  .meta({ id: "HealthCheck" });

export type Check = z.infer<typeof Check>;

export const Health = z
  .object({
    status: z.enum(["ok", "degraded", "down"]),
    checks: z.object({ dynamodb: Check, s3: Check, states: Check, e2b: Check, model: Check }),
  })
  .meta({ id: "Health" });

export type Health = z.infer<typeof Health>;
