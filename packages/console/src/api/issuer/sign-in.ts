import { texts } from "../../texts.ts";
import { askIssuer, parseRecord, SignInProblem } from "./ask.ts";
import type { IssuerConfig } from "./config.ts";
import { discoverEndpoints, type Endpoints } from "./discovery.ts";
import { parseTokens, type TokenSource, type Tokens } from "./tokens.ts";

const { problems } = texts.signIn;

/** A sign-in that was started in this tab and waits for the issuer's answer. */
interface Pending {
  state: string;
  /** The PKCE verifier: without it, the code in the address is useless. */
  verifier: string;
  /** The path of the page from which the user signed in. */
  place: string;
}

const storedPending = "nova-sign-in";

/** Starts a sign-in and returns the address of the issuer. The state and the verifier stay in the tab. */
export async function startSignIn(config: IssuerConfig, redirect: string, place: string): Promise<string> {
  const endpoints = await discoverEndpoints(config);
  const pending: Pending = { state: createRandomText(), verifier: createRandomText(), place };
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
  const address = new URL(authorization);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    state,
    scope: isOffline ? "openid offline_access" : "openid",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(audience !== undefined && { audience }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/**
 * Builds the address that ends the issuer's session and returns to the page. It contains the client id instead of an ID
 * token, which must not appear in an address.
 */
export function buildSignOutUrl({ endOfSession, clientId }: TokenSource, redirect: string): string | undefined {
  if (endOfSession === undefined) return undefined;
  const address = new URL(endOfSession);
  address.searchParams.set("client_id", clientId);
  address.searchParams.set("post_logout_redirect_uri", redirect);
  return address.href;
}

/** Reads an issuer's answer from the query of the address; undefined if the query contains none. */
export function readIssuerAnswer(search: string): URLSearchParams | undefined {
  const params = new URLSearchParams(search);
  return params.has("state") && (params.has("code") || params.has("error")) ? params : undefined;
}

export interface SignedIn {
  tokens: Tokens;
  place: string;
}

/** Exchanges the code of the answer for tokens. Works once per sign-in. Throws `SignInProblem`. */
export async function finishSignIn(
  answer: URLSearchParams,
  config: IssuerConfig | undefined,
  redirect: string,
): Promise<SignedIn> {
  const pending = takePending();
  if (!config || !pending || answer.get("state") !== pending.state) {
    throw new SignInProblem(problems.notBegun);
  }
  refuseError(answer);
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
    code_verifier: pending.verifier,
  });
  if (!isOk) throw new SignInProblem(explainRefusal(body.error, body.error_description));
  return { tokens: parseTokens(body, { endpoint: token, clientId, endOfSession }, Date.now()), place: pending.place };
}

function takePending(): Pending | undefined {
  const { state, verifier, place } = parseRecord(sessionStorage.getItem(storedPending) ?? "") ?? {};
  sessionStorage.removeItem(storedPending);
  if (typeof state !== "string" || typeof verifier !== "string" || typeof place !== "string") return undefined;
  return { state, verifier, place };
}

function refuseError(answer: URLSearchParams): void {
  if (answer.has("error"))
    throw new SignInProblem(explainRefusal(answer.get("error"), answer.get("error_description")));
}

/** Cuts the description: it comes from the address, so anyone may have written it. */
function explainRefusal(error: unknown, description: unknown): string {
  const why = [description, error].find((one) => typeof one === "string" && one !== "") ?? problems.noReason;
  return problems.refused(String(why).slice(0, 200));
}

const randomBytes = 32;

function createRandomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(randomBytes)));
}

/** RFC 7636, `S256`. */
export async function computeChallenge(verifier: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
