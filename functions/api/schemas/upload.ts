import type { RequestedUpload } from "@nova/service";
import { z } from "zod";
import { Slug, Time, UploadId } from "./values.ts";

export const UploadRequest = z.strictObject({
  bytes: z.int().min(0).meta({ description: "exactly so many will be sent" }),
  type: z
    .string()
    .regex(/^[!#$&^_.+\w-]{1,100}\/[!#$&^_.+\w-]{1,100}(; ?[\w-]{1,40}=[\w.+-]{1,80})*$/)
    .optional()
    .meta({ description: "media type", example: "application/pdf" }),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .meta({ description: "of the bytes, in hex: then S3 takes no others, and a run starts without reading them" }),
  client_slug: Slug.optional(),
});

export const UploadAnswer = z
  .object({
    id: UploadId,
    url: z.url(),
    method: z.literal("PUT"),
    headers: z.record(z.string(), z.string()).meta({ description: "to be sent as they are: they are signed" }),
    expires_at: Time,
  })
  .meta({ id: "Upload", description: 'in a context, `{"$upload": id}` stands for the bytes' });

export function uploadAnswer({ id, url, method, headers, expiresAt }: RequestedUpload) {
  return { id, url, method, headers, expires_at: expiresAt };
}
