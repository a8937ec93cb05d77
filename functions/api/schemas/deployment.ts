import { formatStates } from "@nova/service";
import { z } from "zod";

export const Check = z
  .object({
    state: z.enum(["ok", "down"]),
    reason: z.string().optional().meta({ description: "the key that is missing or refused" }),
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

export const FormatItem = z
  .object({
    entity: z.string(),
    format: z.int().nullable().meta({ description: "null: the items have no format" }),
    items: z.int(),
    state: z.enum(formatStates).meta({ description: "this version reads `current` and `older`" }),
  })
  .meta({ id: "StoredFormat" });

export const Finding = z
  .object({
    code: z.string().meta({ example: "NOVA404" }),
    severity: z.enum(["error", "warning"]),
    path: z.string().meta({ description: "JSON path into the definition", example: "$.nodes[2].timeout" }),
    message: z.string(),
    file: z.string().optional(),
    line: z.int().optional(),
    column: z.int().optional(),
  })
  .meta({ id: "Finding" });

/** RFC 9457. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: "one sentence: the problem, and the way out" }),
    findings: z.array(Finding).optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "Problem" });
