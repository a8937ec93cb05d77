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
 * Returns the cache header of a file. Assets are immutable, because their names contain their hash. `name` is the path
 * below the page.
 */
export function getCacheControl(name: string): string {
  return name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
}

/** Name of a file that is served beside the page. The file names the issuer with which people sign in. */
export const configName = "config.json";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the issuer whose tokens the API accepts, and the origin of its token endpoint if that differs. Undefined if the
 * variables do not name both an issuer and the client id of the page at this issuer.
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
 * Builds the headers of the page. The policy in them allows only scripts of the page itself, requests to the origin of
 * the page and to the issuers, and blobs from `blobOrigin`.
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
