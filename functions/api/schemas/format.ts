import { formatStates } from "@nova/service";
import { z } from "zod";

export const FormatItem = z
  .object({
    entity: z.string(),
    format: z.int().nullable().meta({ description: "null: the items have none" }),
    items: z.int(),
    state: z.enum(formatStates).meta({ description: "what this release makes of it: it reads `current` and `older`" }),
  })
  .meta({ id: "StoredFormat" });
