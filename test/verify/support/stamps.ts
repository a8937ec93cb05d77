import { createHash, sign } from "node:crypto";
import { type Authority, type AuthorityOptions, makeAuthority } from "../../support/tsa/authority.ts";
import type { Loose } from "./make-proof.ts";
import type { Choices } from "./random.ts";

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();

/** Returns the DER values that a constructed DER value contains. */
function itemsOf(der: Buffer): Buffer[] {
  const items: Buffer[] = [];
  for (let at = der.length - sizeOf(der).length; at < der.length; at += sizeOf(der.subarray(at)).whole)
    items.push(der.subarray(at, at + sizeOf(der.subarray(at)).whole));
  return items;
}

function sizeOf(der: Buffer): { length: number; whole: number } {
  const digits = (der[1] as number) < 0x80 ? 0 : (der[1] as number) - 0x80;
  const length = digits === 0 ? (der[1] as number) : der.readUIntBE(2, digits);
  return { length, whole: 2 + digits + length };
}

function wrap(tag: number, ...parts: Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  const size = data.length < 0x80 ? [] : data.length < 0x100 ? [0x81] : [0x82, data.length >> 8];
  return Buffer.concat([Buffer.of(tag, ...size, data.length & 0xff), data]);
}

const derOf = ({ certificate }: Authority) => Buffer.from(certificate.replace(/-----.*-----|\s/g, ""), "base64");

/**
 * A token that an authority signed over any text. The tests derive other tokens from the template, because OpenSSL
 * would need a process for each token.
 */
export interface Template {
  authority: Authority;
  token: Buffer;
}

export async function makeTemplate(authority: Authority): Promise<Template> {
  return { authority, token: await authority.stamp(sha256("any text")) };
}

/** How a token differs from its template. `info`, `attributes` and `signed` change fields in DER before the signature. */
interface Forgery {
  /** The owner of the key that signs. By default it is the authority of the template. */
  by?: Authority;
  /** The authority whose certificate is in the token. By default it is `by`, if that is given. */
  named?: Authority | undefined;
  info?: (fields: Buffer[]) => Buffer[];
  attributes?: (items: Buffer[]) => Buffer[];
  signed?: (fields: Buffer[]) => Buffer[];
}

const same = (items: Buffer[]) => items;

export function forgeToken({ authority, token }: Template, forgery: Forgery = {}): Buffer {
  const { by = authority, named = forgery.by, info = same, attributes = same, signed = same } = forgery;
  const [id, content] = itemsOf(token) as [Buffer, Buffer];
  const [version, digests, holder, certificates, signers] = itemsOf(itemsOf(content)[0] as Buffer) as Buffer[];
  const [kind, octets] = itemsOf(holder as Buffer) as [Buffer, Buffer];
  const [before] = itemsOf(itemsOf(octets)[0] as Buffer) as [Buffer];
  const text = wrap(0x30, ...info(itemsOf(before)));
  const [number, name, hash, old, algorithm] = itemsOf(itemsOf(signers as Buffer)[0] as Buffer) as Buffer[];
  const own = Buffer.from(old as Buffer);
  sha256(text).copy(own, own.indexOf(sha256(before)));
  if (named) sha256(derOf(named)).copy(own, own.indexOf(sha256(derOf(authority))));
  const all = wrap(0x31, ...attributes(itemsOf(own)));
  const signature = wrap(0x04, sign("sha256", all, by.privateKey));
  const parts = [
    number,
    named ? nameIn(derOf(named)) : name,
    hash,
    wrap(0xa0, all.subarray(all.length - sizeOf(all).length)),
  ];
  const signer = wrap(0x31, wrap(0x30, ...([...parts, algorithm, signature] as Buffer[])));
  const shown = named ? wrap(0xa0, derOf(named)) : certificates;
  const fields = [version, digests, wrap(0x30, kind, wrap(0xa0, wrap(0x04, text))), shown, signer] as Buffer[];
  return wrap(0x30, id, wrap(0xa0, wrap(0x30, ...signed(fields))));
}

/** The name by which a signer names a certificate: its issuer and serial number. */
function nameIn(certificate: Buffer): Buffer {
  const [, serial, , issuer] = itemsOf(itemsOf(certificate)[0] as Buffer) as [Buffer, Buffer, Buffer, Buffer];
  return wrap(0x30, issuer, serial);
}

/** Authorities for generated proofs. */
export interface Stampers extends AsyncDisposable {
  good: Template[];
  /**
   * Templates with bad certificates: one that is not only for time stamps, and one that expired before the time of
   * every proof.
   */
  bad: Template[];
  /** The certificates of the good authorities: of one of them, and of both. */
  anchors: string[];
}

export async function openStampers(): Promise<Stampers> {
  const make = (options: AuthorityOptions) => makeAuthority(options);
  const all = await Promise.all([
    make({}),
    make({ key: "rsa", hasIntermediate: true }),
    make({ usages: ["extendedKeyUsage = critical, timeStamping, serverAuth"] }),
    make({ period: ["20200101000000Z", "20210101000000Z"] }),
  ]);
  const [ec, rsa, broad, expired] = all as [Authority, Authority, Authority, Authority];
  const good = [await makeTemplate(ec), await makeTemplate(rsa)];
  const [{ token }] = good as [Template];
  const bad = [broad, expired].map((by) => ({ authority: by, token: forgeToken({ authority: ec, token }, { by }) }));
  const anchors = [ec.ca, rsa.ca, `${ec.ca}${rsa.ca}`];
  const close = async () => void (await Promise.all(all.map((one) => one[Symbol.asyncDispose]())));
  return { good, bad, anchors, [Symbol.asyncDispose]: close };
}

const timeOf = (seconds: number, fraction = "") =>
  Buffer.from(`${new Date(seconds * 1000).toISOString().replace(/[-:T]|\..*/g, "")}${fraction}Z`);

interface Stamp {
  text?: string;
  time?: Buffer;
}

function stampOf(template: Template, { text = "", time = timeOf(0) }: Stamp, forgery: Forgery = {}): Buffer {
  const info = ([version, policy, imprint, serial, , ...more]: Buffer[]) => {
    const [algorithm] = itemsOf(imprint as Buffer);
    const fields = [version, policy, wrap(0x30, algorithm as Buffer, wrap(0x04, sha256(text))), serial] as Buffer[];
    return (forgery.info ?? same)([...fields, wrap(0x18, time), ...more]);
  };
  return forgeToken(template, { ...forgery, info });
}

const put = (proof: Loose, token: Buffer) => {
  proof.stamp = { token: token.toString("base64") };
};

/** Returns the time of the root in whole seconds. */
const secondsOf = ({ root }: Loose) => Math.floor(Date.parse(JSON.parse(root.text).at) / 1000);

/** Stamps the root of a proof. */
export function addStamp(proof: Loose, choices: Choices, { good }: Pick<Stampers, "good">): void {
  const time = timeOf(secondsOf(proof) + choices.between(-299, 3600), choices.pick(["", "", ".5", ".125", ".0625"]));
  put(proof, stampOf(choices.pick(good), { text: proof.root.text, time }));
}

type ChangeStamp = (proof: Loose, choices: Choices, stampers: Stampers, template: Template) => void;

const droppedOrTwice = (items: Buffer[], choices: Choices) => {
  const at = choices.between(0, items.length - 1);
  return choices.chance(0.5) ? items.toSpliced(at, 1) : items.toSpliced(at, 0, items[at] as Buffer);
};

/**
 * Changes of a stamp, for proofs with a root. Each change signs the stamp again, except for changes of whole tokens.
 */
export const stampChanges: Record<string, ChangeStamp> = {
  "stamps another root": (proof, _choices, _stampers, template) => {
    put(proof, stampOf(template, { text: `${proof.root.text} `, time: timeOf(secondsOf(proof)) }));
  },
  "stamps at the edge of the tolerance": (proof, choices, _stampers, template) => {
    const time = timeOf(secondsOf(proof) - choices.between(298, 302), choices.pick(["", ".999"]));
    put(proof, stampOf(template, { text: proof.root.text, time }));
  },
  "stamps with a certificate that is not for time stamps then": (proof, choices, { bad }) => {
    put(proof, stampOf(choices.pick(bad), { text: proof.root.text, time: timeOf(secondsOf(proof)) }));
  },
  "signs a stamp with another key": (proof, choices, { good: [ec], bad }) => {
    const by = choices.pick(bad).authority;
    const stamp = { text: proof.root.text, time: timeOf(secondsOf(proof)) };
    put(proof, stampOf(ec as Template, stamp, { by, named: ec?.authority }));
  },
  "writes the time of a stamp in another way": (proof, choices, _stampers, template) => {
    const whole = timeOf(secondsOf(proof)).toString();
    const others = [
      ...[`${whole.slice(0, -1)}+0000`, `${whole.slice(0, -1)}.Z`, `${whole.slice(0, -1)},5Z`, whole.slice(0, -1)],
      ...[`${whole.slice(0, -1)}.50Z`, `${whole.slice(0, -1)}.0Z`, `${whole.slice(0, -1)}.123456789Z`, `${whole} `],
      ...[
        `${whole.slice(0, 12)}60Z`,
        `${whole.slice(0, 12)}Z`,
        `${whole.slice(0, 10)}Z`,
        `${whole.slice(0, 8)}240000Z`,
      ],
      ...[
        `${whole.slice(0, 4)}1301000000Z`,
        `${whole.slice(0, 4)}0230000000Z`,
        `${whole.slice(2)}`,
        "",
        "Z",
        "99991231235959Z",
      ],
    ];
    put(proof, stampOf(template, { text: proof.root.text, time: Buffer.from(choices.pick(others)) }));
  },
  "changes a field of the time": (proof, choices, _stampers, template) => {
    const sha512 = Buffer.from("300b0609608648016503040203", "hex");
    const fields: ((fields: Buffer[]) => Buffer[])[] = [
      (all) => all.with(0, Buffer.from("020102", "hex")),
      (all) => all.with(2, wrap(0x30, sha512, wrap(0x04, createHash("sha512").update(proof.root.text).digest()))),
      (all) => all.with(2, wrap(0x30, itemsOf(all[2] as Buffer)[0] as Buffer, wrap(0x04, Buffer.alloc(31)))),
      (all) => droppedOrTwice(all.slice(0, 5), choices),
    ];
    const stamp = { text: proof.root.text, time: timeOf(secondsOf(proof)) };
    put(proof, stampOf(template, stamp, { info: choices.pick(fields) }));
  },
  "drops or repeats a signed attribute": (proof, choices, _stampers, template) => {
    const stamp = { text: proof.root.text, time: timeOf(secondsOf(proof)) };
    put(proof, stampOf(template, stamp, { attributes: (items) => droppedOrTwice(items, choices) }));
  },
  "changes the parts around a stamp": (proof, choices, { bad }, template) => {
    const stranger = derOf(choices.pick(bad).authority);
    const own = (all: Buffer[]) => itemsOf(all[3] as Buffer);
    const edits: ((all: Buffer[]) => Buffer[])[] = [
      (all) => all.toSpliced(3, 1),
      (all) => all.with(3, wrap(0xa0, ...own(all), stranger)),
      (all) => all.with(3, wrap(0xa0, ...own(all), ...Array.from({ length: 8 }, () => stranger))),
      (all) => all.with(3, wrap(0xa0, stranger)),
      (all) => all.with(4, wrap(0x31, ...itemsOf(all[4] as Buffer), ...itemsOf(all[4] as Buffer))),
      (all) => all.with(4, wrap(0x31)),
      (all) => all.with(1, wrap(0x31)),
    ];
    const stamp = { text: proof.root.text, time: timeOf(secondsOf(proof)) };
    put(proof, stampOf(template, stamp, { signed: choices.pick(edits) }));
  },
  "changes bytes of a stamp": (proof, choices, _stampers, template) => {
    const token = stampOf(template, { text: proof.root.text, time: timeOf(secondsOf(proof)) });
    // The rest of a token is not signed, and different libraries read a damaged envelope differently.
    const imprint = token.indexOf(sha256(proof.root.text));
    const digest = token.lastIndexOf(Buffer.from("06092a864886f70d010904", "hex"));
    const [first, last] = choices.pick<[number, number]>([
      [imprint, imprint + 31],
      [digest, token.length - 1],
    ]);
    const at = choices.between(first, last);
    const kind = choices.between(0, 9);
    if (kind === 0) put(proof, Buffer.concat([token, Buffer.of(0)]));
    else if (kind === 1) put(proof, token.subarray(0, at));
    else put(proof, Buffer.from(token.with(at, (token[at] as number) ^ (1 << choices.between(0, 7)))));
  },
};
