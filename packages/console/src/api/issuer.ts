import { texts } from "../texts.ts";

/** This file implements the sign-in with an issuer: OpenID Connect's code flow with PKCE. */

const { problems } = texts.signIn;

/** Maximum length of an issuer's answer. A longer answer is refused, because an issuer's documents are small. */
const maxCharacters = 200_000;
const timeoutMs = 10_000;

/** A failed sign-in. The message tells the user what to do. */
class SignInProblem extends Error {
  override name = "SignInProblem";
}

/**
 * Fetches a JSON object from an issuer, and uses no cookies, caches or redirects. Throws `SignInProblem` if the issuer
 * does not answer with a JSON object.
 */
async function askIssuer(address: string, form?: Record<string, string>) {
  const { host } = new URL(address);
  const asked = fetch(address, {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
  });
  const read = asked.then(async (answer) => ({ text: await answer.text(), isOk: answer.ok }));
  const { text, isOk } = await read.catch((cause) => {
    throw new SignInProblem(problems.unreachable(host), { cause });
  });
  const body = text.length > maxCharacters ? undefined : parseRecord(text);
  if (body === undefined) throw new SignInProblem(problems.noIssuer(host));
  return { isOk, body };
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the page may open an address: HTTPS only, except on this machine. */
export function isSafeAddress(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  if (username !== "" || password !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname));
}

/** The issuer that signs people in, in addition to API keys. */
export interface IssuerConfig {
  /** `iss` of the tokens: the URL of the issuer. The discovery document is at a path below it. */
  issuer: string;
  clientId: string;
  audience: string | undefined;
  /** The origin of the token endpoint, if it differs from the issuer's origin. */
  tokenOrigin?: string;
}

/** Parses `config.json`. Returns undefined if people sign in only with API keys. */
export function parseConfig(text: string): IssuerConfig | undefined {
  const { issuer, client_id, audience, token_origin } = parseRecord(text) ?? {};
  if (!isSafeAddress(issuer) || typeof client_id !== "string" || client_id === "") return undefined;
  return {
    issuer,
    clientId: client_id,
    audience: typeof audience === "string" && audience ? audience : undefined,
    ...(isSafeAddress(token_origin) && { tokenOrigin: new URL(token_origin).origin }),
  };
}

interface Endpoints {
  authorization: string;
  token: string;
  /**
   * The address that ends the issuer's session (OpenID Connect RP-Initiated Logout); undefined if the issuer names
   * none.
   */
  endOfSession: string | undefined;
  /** Whether the issuer supports the scope `offline_access` for refresh tokens. */
  isOffline: boolean;
  /** Whether the issuer adds its URL as `iss` to its answers (RFC 9207). */
  namesItself: boolean;
}

async function discoverEndpoints(config: IssuerConfig): Promise<Endpoints> {
  const { issuer } = config;
  const { isOk, body } = await askIssuer(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!isOk) throw new SignInProblem(problems.noSignIn(new URL(issuer).host));
  return readEndpoints(body, config);
}

/**
 * Reads the endpoints in a discovery document. Throws if the document belongs to another issuer, or names an address
 * that the page may not call.
 */
export function readEndpoints(
  body: Record<string, unknown>,
  { issuer, tokenOrigin }: Pick<IssuerConfig, "issuer" | "tokenOrigin">,
): Endpoints {
  const { host, origin } = new URL(issuer);
  const { authorization_endpoint, token_endpoint, end_session_endpoint, scopes_supported } = body;
  if (body.issuer !== issuer) throw new SignInProblem(problems.otherDocument(host));
  if (!isSafeAddress(authorization_endpoint) || !isSafeAddress(token_endpoint)) {
    throw new SignInProblem(problems.noAddresses(host));
  }
  // The page's content security policy allows requests only to the origin of the issuer and to `tokenOrigin`.
  if (![origin, tokenOrigin].includes(new URL(token_endpoint).origin)) {
    throw new SignInProblem(problems.otherHost(host));
  }
  return {
    authorization: authorization_endpoint,
    token: token_endpoint,
    endOfSession: isSafeAddress(end_session_endpoint) ? end_session_endpoint : undefined,
    isOffline: Array.isArray(scopes_supported) && scopes_supported.includes("offline_access"),
    namesItself: body.authorization_response_iss_parameter_supported === true,
  };
}

const storedPending = "nova-sign-in";

/**
 * Starts a sign-in. Returns the address at which the issuer signs the user in. The state and the PKCE verifier stay in
 * the browser tab.
 */
export async function startSignIn(config: IssuerConfig, redirect: string, place: string): Promise<string> {
  const endpoints = await discoverEndpoints(config);
  const pending = { state: createRandomText(), verifier: createRandomText(), place };
  sessionStorage.setItem(storedPending, JSON.stringify(pending));
  return buildAuthorizationUrl(endpoints, config, redirect, pending.state, await computeChallenge(pending.verifier));
}

export function buildAuthorizationUrl(
  { authorization, isOffline }: Pick<Endpoints, "authorization" | "isOffline">,
  { clientId, audience }: IssuerConfig,
  redirect: string,
  state: string,
  challenge: string,
): string {
  return addParameters(authorization, {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    state,
    scope: isOffline ? "openid offline_access" : "openid",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(audience !== undefined && { audience }),
  });
}

/**
 * Builds the address that ends the issuer's session and returns to the page. The address contains the client id instead
 * of an ID token, because no token may appear in an address.
 */
export function buildSignOutUrl({ endOfSession, clientId }: TokenSource, redirect: string): string | undefined {
  return endOfSession && addParameters(endOfSession, { client_id: clientId, post_logout_redirect_uri: redirect });
}

function addParameters(address: string, parameters: Record<string, string>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Reads an issuer's answer from the query of the address; undefined if the query contains none. */
export function readIssuerAnswer(search: string): URLSearchParams | undefined {
  const params = new URLSearchParams(search);
  return params.has("state") && (params.has("code") || params.has("error")) ? params : undefined;
}

/**
 * Exchanges the code in the issuer's answer for tokens. Works once per sign-in. Throws `SignInProblem` if the exchange
 * fails.
 */
export async function finishSignIn(
  answer: URLSearchParams,
  config: IssuerConfig | undefined,
  redirect: string,
): Promise<{ tokens: Tokens; place: string }> {
  const { state, verifier, place } = parseRecord(sessionStorage.getItem(storedPending) ?? "") ?? {};
  sessionStorage.removeItem(storedPending);
  const isComplete = typeof verifier === "string" && typeof place === "string";
  if (!config || !isComplete || answer.get("state") !== state) throw new SignInProblem(problems.notBegun);
  if (answer.has("error")) throw refusalOf(answer.get("error"), answer.get("error_description"));
  const { token, endOfSession, namesItself } = await discoverEndpoints(config);
  if (answer.has("iss") ? answer.get("iss") !== config.issuer : namesItself) {
    throw new SignInProblem(problems.otherIssuer);
  }
  const { clientId } = config;
  const { isOk, body } = await askIssuer(token, {
    grant_type: "authorization_code",
    code: answer.get("code") ?? "",
    redirect_uri: redirect,
    client_id: clientId,
    code_verifier: verifier,
  });
  if (!isOk) throw refusalOf(body.error, body.error_description);
  return { tokens: parseTokens(body, { endpoint: token, clientId, endOfSession }, Date.now()), place };
}

/**
 * Returns the error of a sign-in that the issuer refused. Shortens the issuer's description to 200 characters, because
 * any person may have put a description into the address of the page.
 */
function refusalOf(error: unknown, description: unknown): SignInProblem {
  const why = [description, error].find((one) => typeof one === "string" && one !== "") ?? problems.noReason;
  return new SignInProblem(problems.refused(String(why).slice(0, 200)));
}

function createRandomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Computes the PKCE challenge of a verifier (RFC 7636, `S256`). */
export async function computeChallenge(verifier: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** The token endpoint, the client id, and the address that ends the issuer's session. */
interface TokenSource {
  endpoint: string;
  clientId: string;
  endOfSession: string | undefined;
}

export interface Tokens extends TokenSource {
  /** The access token for the API. */
  access: string;
  /** The expiry of the access token in milliseconds since 1970; undefined if the issuer does not report it. */
  endsAt: number | undefined;
  /** The refresh token; undefined: the user must sign in again after the access token expires. */
  refresh: string | undefined;
}

/** Parses an answer of the token endpoint. Throws `SignInProblem` if it contains no bearer token. */
export function parseTokens(body: Record<string, unknown>, source: TokenSource, now: number): Tokens {
  const { access_token, token_type, expires_in, refresh_token } = body;
  const isBearer = typeof token_type === "string" && token_type.toLowerCase() === "bearer";
  if (typeof access_token !== "string" || !/^[\w.~+/=-]+$/.test(access_token) || !isBearer) {
    throw new SignInProblem(problems.noToken);
  }
  const seconds = Number(expires_in);
  return {
    ...source,
    access: access_token,
    endsAt: Number.isFinite(seconds) && seconds > 0 ? now + seconds * 1000 : undefined,
    refresh: typeof refresh_token === "string" && refresh_token !== "" ? refresh_token : undefined,
  };
}

/** Milliseconds before the expiry of a token at which the token is renewed. */
const earlyMs = 60_000;

/** Returns whether a token expires soon and can be renewed. */
export function isRenewalDue({ endsAt, refresh }: Tokens, now: number): boolean {
  return refresh !== undefined && endsAt !== undefined && endsAt - now < earlyMs;
}

/**
 * Requests new tokens with the refresh token. If the issuer sends no new refresh token, the result keeps the old one.
 * Throws `SignInProblem` if the issuer does not renew the tokens.
 */
export async function renewTokens(tokens: Tokens): Promise<Tokens> {
  const { endpoint, clientId, endOfSession, refresh = "" } = tokens;
  const form = { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId };
  const { isOk, body } = await askIssuer(endpoint, form);
  if (!isOk) throw new SignInProblem(problems.notRenewed);
  return parseTokens({ refresh_token: refresh, ...body }, { endpoint, clientId, endOfSession }, Date.now());
}

const storedTokens = "nova-tokens";

export function loadTokens(): Tokens | undefined {
  const tokens = parseRecord(sessionStorage.getItem(storedTokens) ?? "");
  return tokens && typeof tokens.access === "string" ? (tokens as unknown as Tokens) : undefined;
}

export function saveTokens(tokens: Tokens | undefined): void {
  if (tokens) sessionStorage.setItem(storedTokens, JSON.stringify(tokens));
  else sessionStorage.removeItem(storedTokens);
}
