import { requestUpload } from "@nova/service";
import { route } from "../http/route.ts";
import { UploadAnswer, UploadRequest, uploadAnswer } from "../schemas/upload.ts";

export const create = route({
  method: "POST",
  path: "/uploads",
  summary: "An address that takes bytes for a run; they are kept for a day",
  role: "runner",
  body: UploadRequest,
  answers: { 201: { description: "where to send the bytes", schema: UploadAnswer } },
  async handle(ports, { by, body: { client_slug: client, bytes, type, sha256 }, once }) {
    const request = {
      bytes,
      ...(client !== undefined && { client }),
      ...(type !== undefined && { type }),
      ...(sha256 !== undefined && { sha256 }),
    };
    const made = await once((ulid) => requestUpload(ports, by, { ulid, ...request }));
    return { status: 201, body: uploadAnswer(made) };
  },
});
