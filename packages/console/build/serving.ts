/** Types of the files of the built page; it has no others. */
export const pageTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** Names of assets carry the hash of what is in them. `name`: below the page's own address. */
export function cacheControl(name: string): string {
  return name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
}

/** Lies beside the page, and says who signs people in besides keys. */
export const configName = "config.json";

type Variables = Readonly<Record<string, string | undefined>>;

/** The issuer whose tokens open the API, where it knows the page as a public client, and where else it gives them. */
function issuerOf(env: Variables): { issuer: string; token_origin?: string } | undefined {
  const { NOVA_JWT_ISSUER: issuer, NOVA_CONSOLE_CLIENT_ID: client, NOVA_CONSOLE_TOKEN_ORIGIN: other } = env;
  if (!client || !issuer) return undefined;
  return { issuer, ...(other && { token_origin: new URL(other).origin }) };
}

/** Origins that the page asks for tokens; none where keys alone sign in. */
export function issuerOrigins(env: Variables): string[] {
  const { issuer, token_origin: other } = issuerOf(env) ?? {};
  return [issuer, other].flatMap((address) => (address === undefined ? [] : [new URL(address).origin]));
}

/** Text of `config.json`; `{}`: keys alone sign in. */
export function pageConfig(env: Variables): string {
  const named = issuerOf(env);
  const { NOVA_CONSOLE_CLIENT_ID: client_id, NOVA_JWT_AUDIENCE: audience = "nova" } = env;
  return JSON.stringify(named ? { ...named, client_id, audience } : {});
}

/**
 * What the page may do: run its own scripts, ask its own origin and the issuer that signs people in, and fetch blobs from
 * where they lie.
 */
export function pageHeaders(blobOrigin: string, issuers: readonly string[]): Record<string, string> {
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
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
