/** Media types of all files of the built page. */
export const pageTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/**
 * Returns the value of the header `Cache-Control` for a file of the page. `name` is the path of the file below the
 * page. Assets are immutable, because the name of each asset contains the hash of its content.
 */
export function getCacheControl(name: string): string {
  return name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
}

/** The name of a file that the server serves beside the page. The file names the issuer that signs users in. */
export const configName = "config.json";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads from environment variables the issuer whose tokens the API accepts. Also returns the origin of the issuer's
 * token endpoint if the variables name one. Returns undefined if the variables name no issuer, or no client id of the
 * page at this issuer.
 */
function readIssuer(env: Variables): { issuer: string; token_origin?: string } | undefined {
  const { NOVA_JWT_ISSUER: issuer, NOVA_CONSOLE_CLIENT_ID: client, NOVA_CONSOLE_TOKEN_ORIGIN: tokenOrigin } = env;
  if (!client || !issuer) return undefined;
  return { issuer, ...(tokenOrigin && { token_origin: new URL(tokenOrigin).origin }) };
}

/** Lists the origins from which the page requests tokens; empty if people sign in only with API keys. */
export function listIssuerOrigins(env: Variables): string[] {
  const { issuer, token_origin } = readIssuer(env) ?? {};
  return [issuer, token_origin].flatMap((address) => (address === undefined ? [] : [new URL(address).origin]));
}

/** Renders `config.json`; `{}` means that people sign in only with API keys. */
export function renderPageConfig(env: Variables): string {
  const issuer = readIssuer(env);
  const { NOVA_CONSOLE_CLIENT_ID: client_id, NOVA_JWT_AUDIENCE: audience = "nova" } = env;
  return JSON.stringify(issuer ? { ...issuer, client_id, audience } : {});
}

/**
 * Builds the HTTP headers of the page. Their Content-Security-Policy allows only the page's own scripts, requests to
 * the page's origin and to the issuers, and blobs from `blobOrigin`.
 */
export function buildPageHeaders(blobOrigin: string, issuers: readonly string[]): Record<string, string> {
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "worker-src": "'self'",
    "img-src": `'self' blob: ${blobOrigin}`,
    "connect-src": ["'self'", blobOrigin, ...issuers].join(" "),
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
