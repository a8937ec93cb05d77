import { type ApiKey, roles } from "@nova/service";
import { z } from "zod";
import { KeyId, Name, Slug, Time } from "./values.ts";

export const KeyRequest = z.strictObject({
  role: z.enum(roles),
  client_slug: Slug.optional().meta({
    description: "the one client that it reaches; absent: as far as the key that asks",
  }),
  name: Name.optional(),
});

export const KeyItem = z
  .object({
    id: KeyId,
    role: z.enum(roles),
    client_slug: Slug.nullable(),
    name: z.string(),
    created_at: Time,
    created_by: z.string().nullable().meta({ description: "id of a key, or of a subject of the issuer" }),
  })
  .meta({ id: "Key" });

export const CreatedKey = KeyItem.extend({
  key: z.string().meta({ description: "shown this once: only a digest of it is kept" }),
}).meta({ id: "CreatedKey" });

export function keyItem({ id, role, client, name, createdAt, createdBy }: ApiKey) {
  return { id, role, client_slug: client, name, created_at: createdAt, created_by: createdBy };
}
