import { open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { buildPageHeaders, getCacheControl, pageTypes } from "@nova/console/serving";

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  folder: string;
  /** The path under the page's own address. */
  path: string;
  blobOrigin: string;
  /** The issuers that sign people in, in addition to keys. */
  issuers: readonly string[];
}

/** Files of a build. No other path is looked up on the disk. */
const asset = /^(?:assets\/)?[\w-][\w.-]*\.(?:js|css|svg)$/;

/** Sends a file of the build. Every other path is a route of the page, so it gets the page itself. */
export async function sendPage({ request, response, folder, path, blobOrigin, issuers }: Asked): Promise<void> {
  const isAsset = asset.test(path);
  if (request.method !== "GET" && request.method !== "HEAD") return end(response, 405, "only GET is possible here");
  await using file = await open(join(folder, isAsset ? path : "index.html")).catch(() => undefined);
  if (!file) return end(response, 404, "there is no such file");
  const name = isAsset ? path : "index.html";
  const { size } = await file.stat();
  response.writeHead(200, {
    ...buildPageHeaders(blobOrigin, issuers),
    "content-type": pageTypes[extname(name)] as string,
    "content-length": size,
    "cache-control": getCacheControl(name),
  });
  if (request.method === "HEAD") return void response.end();
  await pipeline(file.createReadStream({ autoClose: false }), response);
}

function end(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  response.end(sentence);
}
