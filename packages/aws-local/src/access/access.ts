import type { IncomingHttpHeaders } from "node:http";
import { type AccessKey, instantOf, Signatures, vouchesFor } from "./signature.ts";

/** The reason why a request is refused. */
export type Refusal = "unsigned" | "stranger" | "malformed" | "partial" | "skewed" | "forged";

export interface Request {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
}

/** AWS tolerates clocks that differ by 15 minutes. */
const maxSkewMs = 15 * 60 * 1000;

const header =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8}\/[^/,\s]+\/[^/,\s]+\/aws4_request),\s*SignedHeaders=([^,\s]+),\s*Signature=(\S+)$/;

/**
 * Checks that a request is signed with the secret of the data folder's access key. A loopback address alone is no
 * protection, because code in a sandbox can reach it. The id of the key is no protection, because signed addresses
 * contain it.
 */
export class Access {
  readonly signatures: Signatures;
  readonly keyId: string;

  constructor({ accessKeyId, secretAccessKey }: AccessKey) {
    this.keyId = accessKeyId;
    this.signatures = new Signatures(secretAccessKey);
  }

  /**
   * Returns the reason to refuse an HTTP request; undefined if the request is accepted. `payload` is the SHA-256 of the
   * body in hex. S3 passes the hash that the client sent in a header, and compares the body with this hash while it
   * reads the body.
   */
  refusalOf(request: Request, payload: string): Refusal | undefined {
    const claim = this.claimOf(request);
    return typeof claim === "string" ? claim : claim(payload);
  }

  /**
   * Checks the headers before the body is read. Returns the reason to refuse the request, or a function that takes the
   * hash of the body and checks the signature. That function also returns a reason to refuse, or undefined.
   */
  claimOf({ method = "", url = "/", headers }: Request): Refusal | ((payload: string) => Refusal | undefined) {
    if (!headers.authorization) return "unsigned";
    const [, keyId, scope = "", names = "", signature = ""] = header.exec(headers.authorization) ?? [];
    const time = String(headers["x-amz-date"] ?? "");
    const instant = instantOf(time);
    if (!keyId || Number.isNaN(instant)) return "malformed";
    if (keyId !== this.keyId) return "stranger";
    const signed = names.split(";");
    if (!vouchesFor(headers, signed)) return "partial";
    if (Math.abs(Date.now() - instant) > maxSkewMs) return "skewed";
    if (!scope.startsWith(time.slice(0, 8))) return "forged";
    const [path = "", search = ""] = url.split(/\?(.*)/s);
    const query = search ? [...new URLSearchParams(search)] : [];
    const request = { method, path, query, headers, signed, time, scope };
    return (payload) => (this.signatures.match({ ...request, payload }, signature) ? undefined : "forged");
  }
}

/** For each reason to refuse a request: the error name and the message that services with JSON responses send. */
export const refusals: Record<Refusal, readonly [name: string, message: string]> = {
  unsigned: ["MissingAuthenticationTokenException", "Request is missing Authentication Token"],
  stranger: ["UnrecognizedClientException", "The security token included in the request is invalid."],
  malformed: [
    "IncompleteSignatureException",
    "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' parameters, and an 'X-Amz-Date' header.",
  ],
  partial: [
    "InvalidSignatureException",
    "'Host' and all 'X-Amz-*' headers must be a 'SignedHeader' in the AWS Authorization.",
  ],
  skewed: ["InvalidSignatureException", "Signature expired or not yet current: its time is over 15 minutes from now."],
  forged: [
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
  ],
};
