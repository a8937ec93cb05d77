import { executionWithin, NotFound } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ExecutionId, Time } from "../schemas/values.ts";

const linkSeconds = 900;

const BlobLink = z
  .object({ url: z.url().meta({ description: "answers the bytes to whoever has it" }), expires_at: Time })
  .meta({ id: "BlobLink" });

export const link = route({
  method: "GET",
  path: "/executions/{id}/blobs/{sha256}",
  summary: "An address of the bytes that a reference in a context stands for",
  role: "viewer",
  params: z.object({ id: ExecutionId, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  answers: { 200: { description: "the address", schema: BlobLink } },
  async handle(ports, { by, params: { id, sha256 } }) {
    const { client, root } = await executionWithin(ports, by, id);
    const expiresAt = new Date(ports.clock.now() + linkSeconds * 1000).toISOString();
    const url = await ports.blobLinks.sign({ client, root }, sha256, linkSeconds);
    if (url === undefined) {
      throw new NotFound(`execution "${id}" has no bytes of that hash - take one of its contexts, if none was erased`);
    }
    return { status: 200, body: { url, expires_at: expiresAt } };
  },
});
