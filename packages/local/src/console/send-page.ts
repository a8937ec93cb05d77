import { open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  folder: string;
  /** Below the page's own address. */
  path: string;
  blobOrigin: string;
}

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing but these is in a build: no other address is looked up on the disk. */
const asset = /^(?:assets\/)?[\w-][\w.-]*\.(?:js|css|svg)$/;

/** A file of the build; every other address is a place inside of the page, and the page itself. */
export async function sendPage({ request, response, folder, path, blobOrigin }: Asked): Promise<void> {
  const isAsset = asset.test(path);
  if (request.method !== "GET" && request.method !== "HEAD") return end(response, 405, "only GET is possible here");
  await using file = await open(join(folder, isAsset ? path : "index.html")).catch(() => undefined);
  if (!file) return end(response, 404, "there is no such file");
  const name = isAsset ? path : "index.html";
  const { size } = await file.stat();
  response.writeHead(200, {
    ...pageHeaders(blobOrigin),
    "content-type": types[extname(name)] as string,
    "content-length": size,
    // Names of assets carry the hash of what is in them.
    "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (request.method === "HEAD") return void response.end();
  await pipeline(file.createReadStream({ autoClose: false }), response);
}

function end(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  response.end(sentence);
}

/** What the page may do: run its own scripts, ask its own origin, and fetch blobs from where they lie. */
export function pageHeaders(blobOrigin: string): Record<string, string> {
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "worker-src": "'self'",
    "img-src": `'self' blob: ${blobOrigin}`,
    "connect-src": `'self' ${blobOrigin}`,
    "frame-src": blobOrigin,
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
  };
  return {
    "content-security-policy": Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}
