import { fromBER, type GeneralizedTime, OctetString, type Sequence } from "asn1js";
import * as pki from "pkijs";
import { bytesOfBase64, hexOf } from "./bytes.ts";
import { ensure } from "./json.ts";

/** Parses the certificates of a PEM file. Throws `SyntaxError`. */
export function parseAuthorities(pem: Uint8Array | string): pki.Certificate[] {
  const text = typeof pem === "string" ? pem : new TextDecoder().decode(pem);
  const found = [...text.matchAll(/-----BEGIN CERTIFICATE-----([\sA-Za-z\d+/=]+)-----END CERTIFICATE-----/g)];
  try {
    if (found.length === 0) throw new Error("there is none");
    return found.map(([, base64 = ""]) => pki.Certificate.fromBER(bytesOfBase64(base64.replace(/\s/g, ""))));
  } catch (cause) {
    throw new SyntaxError("it has no valid certificate in PEM", { cause });
  }
}
/** Allowed pairs: a hash function, and RSA (PKCS #1 v1.5) or ECDSA with it. The id of RSA may name no hash function. */
const algorithms =
  /^([123] 113549\.1\.1\.1|1 (113549\.1\.1\.11|10045\.4\.3\.2)|2 (113549\.1\.1\.12|10045\.4\.3\.3)|3 (113549\.1\.1\.13|10045\.4\.3\.4))$/;
const sha2 = new Map([256, 384, 512].map((bits, index) => [`2.16.840.1.101.3.4.2.${index + 1}`, `SHA-${bits}`]));
/** The attributes that name the signer's certificate, each with its default hash function. */
const certificateNames = { "1.2.840.113549.1.9.16.2.12": "SHA-1", "1.2.840.113549.1.9.16.2.47": "SHA-256" };

/** Checks a token (base64) over a text. Returns its time in milliseconds. Throws `Error`: "the time stamp is not valid: ...". */
export async function checkToken(token: string, text: string, authorities?: pki.Certificate[]): Promise<number> {
  const bytes = bytesOfBase64(token);
  const content = pki.ContentInfo.fromBER(bytes);
  const isDer = bytes.length <= 2 ** 16 && hexOf(content.toSchema().toBER()) === hexOf(bytes);
  ensure(isDer && content.contentType === pki.ContentInfo.SIGNED_DATA, "it is not signed data in DER of at most 64 KB");
  const signed = new pki.SignedData({ schema: content.content });
  const { eContent, eContentType } = signed.encapContentInfo;
  ensure(eContent && eContentType === pki.id_eContentType_TSTInfo, "it does not hold a time");
  const { version, messageImprint, genTime } = pki.TSTInfo.fromBER(eContent.getValue());
  ensure(version === 1 && messageImprint.hashAlgorithm.algorithmId === pki.id_sha256, "its imprint is not a SHA-256");
  const fields = (fromBER(eContent.getValue()).result as Sequence).valueBlock.value as GeneralizedTime[];
  const [whole] = genTime.toISOString().replace(/[-:T]/g, "").split(".");
  const written = new TextDecoder().decode(fields[4]?.valueBlock.valueHexView);
  ensure(new RegExp(`^${whole}(?:\\.\\d*[1-9])?Z$`).test(written), "its time has another form");
  const [signer, ...more] = signed.signerInfos;
  const isFew = more.length === 0 && (signed.certificates?.length ?? 0) <= 8;
  ensure(signer?.signedAttrs && isFew, "it does not have one signer, or more than 8 certificates");
  const { attributes } = signer.signedAttrs;
  const [hash, own] = [signer.digestAlgorithm.algorithmId, signer.signatureAlgorithm.algorithmId];
  const isKnown = sha2.has(hash) && algorithms.test(`${hash.at(-1)} ${own.replace(/^1\.2\.840\./, "")}`);
  ensure(isKnown, "its signature is neither RSA nor ECDSA with SHA-2");
  const values = new Map(attributes.map((attribute) => [attribute.type, attribute.values[0]]));
  const isSingle = values.size === attributes.length && attributes.every(({ values }) => values.length === 1);
  const type = values.get("1.2.840.113549.1.9.3")?.valueBlock.toString();
  ensure(isSingle && type === pki.id_eContentType_TSTInfo, "its signed attributes are not valid");
  delete signed.crls;
  const chain = { checkChain: authorities !== undefined, trustedCerts: authorities ?? [] };
  const request = { signer: 0, data: new TextEncoder().encode(text).buffer, extendedMode: true as const, ...chain };
  const verified = await signed.verify(request).catch((cause: pki.SignedDataVerifyError) => {
    const what = cause.code === 5 ? "its certificate does not lead to the given authority" : "it is of another root";
    throw new Error(`${what}, or something was changed`, { cause });
  });
  const certificate = verified.signerCertificate;
  ensure(verified.signatureVerified && certificate, "its signature is not valid");
  const usage = certificate.extensions?.find(({ extnID }) => extnID === pki.id_ExtKeyUsage);
  const purposes = usage?.critical ? (usage.parsedValue as pki.ExtKeyUsage).keyPurposes : [];
  ensure(purposes.join() === "1.3.6.1.5.5.7.3.8", "its certificate is not only for time stamps");
  const { notBefore, notAfter } = certificate;
  ensure(notBefore.value <= genTime && genTime <= notAfter.value, "its certificate was not valid at that time");
  const names = Object.entries(certificateNames).filter(([id]) => values.has(id));
  ensure(names.length > 0, "it does not name its certificate");
  for (const [id, byDefault] of names) {
    const [first, second] = values.get(id).valueBlock.value[0].valueBlock.value[0].valueBlock.value;
    const isDefault = first instanceof OctetString;
    const algorithm = isDefault ? byDefault : sha2.get(first.valueBlock.value[0].valueBlock.toString());
    const hash = hexOf(await crypto.subtle.digest(algorithm ?? "", certificate.toSchema().toBER()));
    ensure(hexOf((isDefault ? first : second).valueBlock.valueHexView) === hash, "it names another certificate");
  }
  return genTime.getTime();
}
