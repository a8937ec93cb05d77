import { z } from "zod";

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
    detail: z.string().meta({ description: "one sentence: what is wrong, and the way out" }),
    findings: z.array(Finding).optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "Problem" });
