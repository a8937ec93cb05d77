import type { Client } from "@nova/service";
import { z } from "zod";
import { Name, Slug, Time, VersionNumber, WorkflowId } from "./values.ts";

const mostPins = 100;

export const ClientRequest = z.strictObject({ slug: Slug, name: Name });

export const ClientChanges = z.strictObject({
  name: Name.optional(),
  pins: z
    .record(WorkflowId, VersionNumber)
    .refine((pins) => Object.keys(pins).length <= mostPins, `at most ${mostPins} workflows can be pinned`)
    .optional()
    .meta({ description: "versions of workflows that its runs use, whatever is active" }),
});

export const ClientItem = z
  .object({ slug: Slug, name: z.string(), pins: z.record(z.string(), VersionNumber), created_at: Time })
  .meta({ id: "Client" });

export function clientItem({ slug, name, pins, createdAt }: Client) {
  return { slug, name, pins, created_at: createdAt };
}
