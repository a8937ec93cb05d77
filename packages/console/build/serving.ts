/** Types of the files of the built page; it has no others. */
export const pageTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Names of assets carry the hash of what is in them. `name`: below the page's own address. */
export function cacheControl(name: string): string {
  return name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
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
