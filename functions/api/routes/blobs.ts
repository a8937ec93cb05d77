import { executionWithin, NotFound, requestUpload } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ExecutionId, Slug, Time, UploadId } from "../schemas/values.ts";
import { viewOf } from "../schemas/view.ts";

const UploadRequest = z.strictObject({
  bytes: z.int().min(0).meta({ description: "exact number of bytes" }),
  type: z
    .string()
    .regex(/^[!#$&^_.+\w-]{1,100}\/[!#$&^_.+\w-]{1,100}(; ?[\w-]{1,40}=[\w.+-]{1,80})*$/)
    .optional()
    .meta({ description: "media type", example: "application/pdf" }),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .meta({ description: "SHA-256 in hex: S3 accepts only these bytes, and a run starts without reading them" }),
  client_slug: Slug.optional(),
});

const UploadAnswer = z
  .object({
    id: UploadId,
    url: z.url(),
    method: z.literal("PUT"),
    headers: z.record(z.string(), z.string()).meta({ description: "send them unchanged: they are signed" }),
    expires_at: Time,
  })
  .meta({ id: "Upload", description: 'in a context, `{"$upload": id}` stands for the bytes' });

export const upload = route("POST /uploads", {
  summary: "Create an address that accepts bytes for a run, which NOVA keeps for a day",
  role: "runner",
  body: UploadRequest,
  answers: { 201: { description: "the address for the bytes", schema: UploadAnswer } },
  async handle(ports, { by, body: { client_slug: client, ...body }, once }) {
    const request = { ...body, ...(client !== undefined && { client }) };
    return viewOf(UploadAnswer, await once((ulid) => requestUpload(ports, by, { ulid, ...request })));
  },
});

const linkSeconds = 900;

const BlobLink = z
  .object({ url: z.url().meta({ description: "gives the bytes to every caller who has it" }), expires_at: Time })
  .meta({ id: "BlobLink" });

export const link = route("GET /executions/{id}/blobs/{sha256}", {
  summary: "The address of the bytes of a reference in a context",
  role: "viewer",
  params: z.object({ id: ExecutionId, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  query: z.strictObject({
    as: z.enum(["application/pdf"]).optional().meta({ description: "the content type of the bytes, for display" }),
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
