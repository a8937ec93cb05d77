import type { Body, Connection } from "../connection.ts";
import { ApiProblem } from "../problem.ts";
import { unreachableError } from "../retry.ts";
import type { Schemas } from "../schemas.ts";

export type Uploading = Body<"/uploads", "post">;

export async function upload(
  { api, ask }: Connection,
  body: Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  about: Uploading,
): Promise<{ $upload: string }> {
  const ticket: Schemas["Upload"] = await ask(api.POST("/uploads", { body: about }));
  const { id, url, method, headers } = ticket;
  const sent = await fetch(url, { method, headers, body, duplex: "half" } as RequestInit).catch((cause) => {
    throw unreachableError(url, cause);
  });
  if (!sent.ok) {
    const detail = `the bytes of upload ${id} were refused with status ${sent.status} - send exactly ${about.bytes}`;
    throw new ApiProblem(sent.status, { detail, title: "Upload refused" });
  }
  return { $upload: id };
}
