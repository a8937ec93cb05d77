import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** The behaviour of the issuer for the next request. */
export interface Behaviour {
  /** Additional claims of the issuer's tokens. */
  claims: Record<string, unknown>;
  /** Lifetime of the issuer's tokens in seconds. */
  expiresIn: number;
  /** The error with which the issuer redirects to the page; absent: the issuer grants a code. */
  refuses?: string;
  /** The host name of its token endpoint. */
  tokenHost?: string;
}

export interface Issuer extends AsyncDisposable {
  url: string;
  behaviour: Behaviour;
  /** Requests to the token endpoint, in order. */
  grants: Record<string, string>[];
  /** Requests to the address that ends the session. */
  ended: string[];
}

interface Code {
  redirect: string;
  client: string;
  challenge: string;
}

/**
 * Starts an OpenID Connect issuer on 127.0.0.1. It supports the code flow with PKCE for one public client, and each
 * refresh token is valid only once.
 */
export async function openIssuer(clientId: string, audience: string): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }] };
  const codes = new Map<string, Code>();
  const refreshes = new Set<string>();
  const issuer = {
    behaviour: { claims: {}, expiresIn: 300 } as Behaviour,
    grants: [] as Record<string, string>[],
    ended: [] as string[],
  };

  async function tokens() {
    const signing = new SignJWT({ ...issuer.behaviour.claims, jti: randomUUID() })
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(url)
      .setAudience(audience)
      .setSubject("mo@example.com")
      .setIssuedAt()
      .setExpirationTime("5m");
    const refresh = randomUUID();
    refreshes.add(refresh);
    const access_token = await signing.sign(privateKey);
    const { expiresIn: expires_in } = issuer.behaviour;
    return { access_token, token_type: "Bearer", expires_in, refresh_token: refresh };
  }

  /**
   * Returns whether the form of a token request has a valid code or a valid refresh token. Each of them is valid only
   * once.
   */
  function isGranted(form: Record<string, string>): boolean {
    if (form.grant_type === "refresh_token") return refreshes.delete(form.refresh_token ?? "");
    const code = codes.get(form.code ?? "");
    codes.delete(form.code ?? "");
    const challenge = createHash("sha256")
      .update(form.code_verifier ?? "")
      .digest("base64url");
    return code?.challenge === challenge && code.redirect === form.redirect_uri && code.client === form.client_id;
  }

  function authorize(params: URLSearchParams): string {
    const back = new URL(params.get("redirect_uri") ?? "");
    back.searchParams.set("state", params.get("state") ?? "");
    const { refuses } = issuer.behaviour;
    const isKnown = params.get("client_id") === clientId && params.get("code_challenge_method") === "S256";
    if (refuses !== undefined || !isKnown) {
      back.searchParams.set("error", refuses ?? "unauthorized_client");
      return back.href;
    }
    const code = randomUUID();
    codes.set(code, {
      redirect: params.get("redirect_uri") ?? "",
      client: clientId,
      challenge: params.get("code_challenge") ?? "",
    });
    back.searchParams.set("code", code);
    return back.href;
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const answer = (status: number, body: unknown) =>
      response
        .writeHead(status, { "content-type": "application/json", "access-control-allow-origin": "*" })
        .end(JSON.stringify(body));
    if (pathname === "/.well-known/jwks.json") return answer(200, jwks);
    if (pathname === "/.well-known/openid-configuration") {
      const token = new URL("/token", url);
      token.hostname = issuer.behaviour.tokenHost ?? token.hostname;
      const endpoints = {
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: token.href,
        end_session_endpoint: `${url}/logout`,
      };
      return answer(200, { issuer: url, ...endpoints, scopes_supported: ["openid", "offline_access"] });
    }
    if (pathname === "/logout") {
      issuer.ended.push(request.url ?? "");
      return response.writeHead(302, { location: searchParams.get("post_logout_redirect_uri") ?? "" }).end();
    }
    if (pathname === "/authorize") return response.writeHead(302, { location: authorize(searchParams) }).end();
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    issuer.grants.push(form);
    return isGranted(form) ? answer(200, await tokens()) : answer(400, { error: "invalid_grant" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(issuer, {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
