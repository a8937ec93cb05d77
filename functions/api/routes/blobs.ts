import { executionWithin, NotFound, requestUpload } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ExecutionId, Slug, Time, UploadId } from "../schemas/values.ts";
import { viewOf } from "../schemas/view.ts";

const UploadRequest = z.strictObject({
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

const UploadAnswer = z
  .object({
    id: UploadId,
    url: z.url(),
    method: z.literal("PUT"),
    headers: z.record(z.string(), z.string()).meta({ description: "to be sent as they are: they are signed" }),
    expires_at: Time,
  })
  .meta({ id: "Upload", description: 'in a context, `{"$upload": id}` stands for the bytes' });

export const upload = route("POST /uploads", {
  summary: "An address that takes bytes for a run; they are kept for a day",
  role: "runner",
  body: UploadRequest,
  answers: { 201: { description: "where to send the bytes", schema: UploadAnswer } },
  async handle(ports, { by, body: { client_slug: client, ...body }, once }) {
    const request = { ...body, ...(client !== undefined && { client }) };
    return viewOf(UploadAnswer, await once((ulid) => requestUpload(ports, by, { ulid, ...request })));
  },
});

const linkSeconds = 900;

const BlobLink = z
  .object({ url: z.url().meta({ description: "answers the bytes to whoever has it" }), expires_at: Time })
  .meta({ id: "BlobLink" });

export const link = route("GET /executions/{id}/blobs/{sha256}", {
  summary: "An address of the bytes that a reference in a context stands for",
  role: "viewer",
  params: z.object({ id: ExecutionId, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  query: z.strictObject({
    as: z.enum(["application/pdf"]).optional().meta({ description: "the bytes come as this type, to be shown" }),
  }),
  answers: { 200: { description: "the address", schema: BlobLink } },
  async handle(ports, { by, params: { id, sha256 }, query }) {
    const { client, root } = await executionWithin(ports, by, id);
    const expiresAt = new Date(ports.clock.now() + linkSeconds * 1000).toISOString();
    const url = await ports.blobLinks.sign({ client, root }, sha256, linkSeconds, query.as);
    if (url === undefined) {
      throw new NotFound(`execution "${id}" has no bytes of that hash - take one of its contexts, if none was erased`);
    }
    return { url, expires_at: expiresAt };
  },
});
