import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { AgentRefusal, callAgent, forward, openCall, readHead } from "./agent-call.ts";
import { header, Refusal, readBody, readJson, sendJson, sendNothing } from "./http.ts";
import type { Sandbox } from "./sandboxes.ts";

/** The HTTP status of envd for each error code of the agent. */
const STATUS_OF_CODE: Record<string, number> = { invalid_argument: 400, not_found: 404, resource_exhausted: 507 };

/**
 * The header with which the SDK says that a call is made as root. Calls that read or write whole files name the user in
 * the query instead.
 */
const ROOT = `Basic ${Buffer.from("root:").toString("base64")}`;

/** Serves port 49983, envd: root can read, write and remove files. */
export async function answerEnvd(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse, url: URL) {
  const call = `${request.method} ${url.pathname}`;
  if (call === "GET /health") return sendNothing(response);
  if (header(request, "x-access-token") !== sandbox.envdAccessToken) {
    throw new Refusal(401, "unauthorized access, please provide a valid access token or method signing if supported");
  }
  const answer = { "GET /files": download, "POST /files": upload, "POST /filesystem.Filesystem/Remove": remove }[call];
  if (!answer) throw new Refusal(404, `the local sandbox has no ${call}`);
  const isRoot = url.searchParams.get("username") === "root" || request.headers.authorization === ROOT;
  if (request.method === "POST" && !isRoot) {
    throw new Refusal(401, "files are changed by root alone in the local sandbox - name the user root");
  }
  try {
    await answer(sandbox.lifeline.socketPath, request, response, url);
  } catch (error) {
    if (!(error instanceof AgentRefusal)) throw error;
    throw new Refusal(STATUS_OF_CODE[error.code] ?? 500, error.message);
  }
}

async function remove(agent: string, request: IncomingMessage, response: ServerResponse) {
  const { path } = await readJson(request);
  await callAgent(agent, { op: "remove", path });
  sendJson(response, 200, {});
}

async function download(agent: string, _: IncomingMessage, response: ServerResponse, url: URL) {
  const socket = openCall(agent, { op: "read", path: url.searchParams.get("path") ?? "" });
  const file = (await readHead(socket)) as { path: string; size: number };
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-length": file.size,
    "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(basename(file.path))}`,
  });
  await forward(socket, response, file.size);
}

/** Uploads files: the body is either one file of any size, which is streamed, or a form with several small ones. */
async function upload(agent: string, request: IncomingMessage, response: ServerResponse, url: URL) {
  if (header(request, "content-encoding")) throw new Refusal(400, "the local sandbox takes no compressed upload");
  const type = header(request, "content-type") ?? "";
  const path = url.searchParams.get("path");
  if (type.startsWith("application/octet-stream")) {
    if (path === null) throw new Refusal(400, "path query parameter is required for raw body upload");
    return sendJson(response, 200, [await write(agent, path, request)]);
  }
  const body = await readBody(request);
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } })
    .formData()
    .catch((cause) => {
      throw new Refusal(400, `error parsing multipart form: ${cause.message}`);
    });
  const written: unknown[] = [];
  for (const file of form.getAll("file")) {
    if (typeof file === "string") throw new Refusal(400, "error resolving path: a part has no file name");
    written.push(await write(agent, path ?? file.name, [new Uint8Array(await file.arrayBuffer())]));
  }
  sendJson(response, 200, written);
}

/**
 * Streams a file to the agent, no faster than the agent reads. If the upload is interrupted, the bytes that have
 * arrived stay in the file, as on E2B.
 */
async function write(agent: string, path: string, body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const socket = openCall(agent, { op: "write", path });
  try {
    // If the agent refuses the file, its response gives the reason.
    const sent = pipeline(body, socket).catch(() => socket.destroy());
    const answer = await readHead(socket);
    await sent;
    return answer;
  } finally {
    socket.destroy();
  }
}
