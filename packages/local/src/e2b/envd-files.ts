import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import { createGunzip } from "node:zlib";
import { drained, forwardBytes, openCall, readHead } from "./agent-call.ts";
import { header, Refusal, sendJson } from "./http.ts";
import { readMultipart } from "./multipart.ts";

/** GET and POST /files of envd; bytes stream through in both directions. */
export async function answerFiles(agent: string, request: IncomingMessage, response: ServerResponse, url: URL) {
  const path = url.searchParams.get("path") ?? undefined;
  const user = url.searchParams.get("username") ?? undefined;
  if (request.method === "GET") return download(agent, response, path ?? "", user);
  const contentType = header(request, "content-type") ?? "";
  const body = isGzipped(request) ? request.pipe(createGunzip()) : request;
  if (contentType.startsWith("application/octet-stream")) {
    if (path === undefined) throw new Refusal(400, "path query parameter is required for raw body upload");
    return sendJson(response, 200, [await upload(agent, path, user, body)]);
  }
  if (!contentType.startsWith("multipart/")) {
    const expected = "expected multipart/form-data or application/octet-stream";
    throw new Refusal(400, `unsupported content type: ${contentType}, ${expected}`);
  }
  sendJson(response, 200, await uploadForm(agent, contentType, path, user, body));
}

function isGzipped(request: IncomingMessage): boolean {
  const encoding = header(request, "content-encoding") ?? "identity";
  if (encoding === "gzip") return true;
  if (encoding === "identity") return false;
  throw new Refusal(400, `error decompressing request body: unsupported encoding ${encoding} - use gzip or none`);
}

async function download(agent: string, response: ServerResponse, path: string, user: string | undefined) {
  const socket = openCall(agent, { op: "read", path, user });
  const file = (await readHead(socket)) as { path: string; size: number };
  response.writeHead(200, {
    ...{ "content-type": "application/octet-stream", "content-length": file.size },
    "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(basename(file.path))}`,
  });
  await forwardBytes(socket, response, file.size);
}

async function uploadForm(
  agent: string,
  contentType: string,
  path: string | undefined,
  user: string | undefined,
  body: AsyncIterable<Buffer>,
) {
  const written: { path: string }[] = [];
  for await (const part of readMultipart(contentType, body)) {
    if (part.name !== "file") continue;
    const target = path ?? part.filename;
    if (!target) throw new Refusal(400, "error resolving path: the part has no file name and the request no path");
    if (path !== undefined && written.length > 0) {
      throw new Refusal(400, `you cannot upload multiple files to the same path '${path}' in one upload request`);
    }
    written.push(await upload(agent, target, user, part.body));
  }
  return written;
}

/** Streams at the agent's pace. An upload that breaks off leaves what had come, as on E2B. */
async function upload(agent: string, path: string, user: string | undefined, body: AsyncIterable<Buffer>) {
  const socket = openCall(agent, { op: "write", path, user });
  const answer = readHead(socket);
  answer.catch(() => socket.destroy());
  try {
    for await (const chunk of body) {
      if (!socket.write(chunk)) await drained(socket);
      if (socket.destroyed) break;
    }
    socket.end();
    return (await answer) as { path: string };
  } finally {
    socket.destroy();
  }
}
