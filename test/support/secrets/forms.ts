/**
 * Returns every form of a secret that NOVA promises to find. It computes the forms itself, so that it does not repeat a
 * mistake of NOVA.
 */
export function guaranteedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll("\\", "\\\\").replaceAll("'", "\\'"),
    hex,
    hex.toUpperCase(),
    ...["base64", "base64url"].flatMap((alphabet) => [0, 1, 2].map((offset) => inside(bytes, offset, alphabet))),
  ];
}

/** Returns the part of a base64 text that depends only on the secret, not on the bytes before and after it. */
function inside(bytes: Buffer, offset: number, alphabet: string): string {
  const [one, other] = ["\0", "\u00ff"].map((filling) => {
    const around = Buffer.from(filling.repeat(3), "latin1");
    const text = Buffer.concat([around.subarray(0, offset), bytes, around]).toString(alphabet as BufferEncoding);
    return Array.from(text);
  }) as [string[], string[]];
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  return one.filter((char, index) => index < end && char === other[index]).join("");
}

/** Python code that puts every form that NOVA promises to find into the list `forms`. The secret is in `value`. */
export const pythonForms = `
import base64, urllib.parse
raw = value.encode()
forms = [value, json.dumps(value), repr(value), repr(value.encode()), urllib.parse.quote(value), urllib.parse.quote(value, safe=''),
         urllib.parse.quote_plus(value), raw.hex(), raw.hex().upper()]
for pad in (b'', b'a', b'ab'):
    forms += [base64.b64encode(pad + raw + b'z').decode(), base64.urlsafe_b64encode(pad + raw + b'z').decode()]
`;
