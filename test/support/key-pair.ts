import { createHash, generateKeyPairSync, sign, verify } from "node:crypto";
import type { KeyPair } from "@nova/engine";

/** A real key pair in memory. Its key is valid from 1970 on. */
export function memoryKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const kid = createHash("sha256")
    .update(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))
    .digest("base64url");
  return {
    async sign(text) {
      const bytes = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${kid}.${bytes.toString("base64url")}`;
    },
    async verify(text, signature) {
      const [of, bytes = ""] = signature.split(".");
      const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
      return of === kid && verify("sha256", Buffer.from(text), key, Buffer.from(bytes, "base64url"));
    },
    publicKeys: async () => [{ kty: "EC", crv: "P-256", x, y, use: "sig", alg: "ES256", kid, nbf: 0 }],
  };
}
