import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface AuthorityOptions {
  /** The type of the keys. P-256 keys are generated faster, but real authorities often have RSA keys. */
  key?: "ec" | "rsa";
  /** Lines of OpenSSL's configuration that replace the key usages in the certificate that signs time stamps. */
  usages?: string[];
  /** First and last second of the signing certificate, such as `20200101000000Z`. */
  period?: [from: string, to: string];
  /** Whether an intermediate authority signs the certificate. */
  hasIntermediate?: boolean;
}

/** A certificate authority in a temporary folder. It has issued a certificate that signs time stamps. */
export interface Authority extends AsyncDisposable {
  folder: string;
  /** Certificate of the root authority (PEM). */
  ca: string;
  /** Certificate that signs time stamps (PEM), and its key (PKCS 8, PEM). */
  certificate: string;
  privateKey: string;
  /** Answers a TimeStampReq (DER) with a TimeStampResp (DER). */
  answer(query: Uint8Array): Promise<Buffer>;
  /** Returns a TimeStampToken (DER) for a SHA-256 hash of 32 bytes. */
  stamp(hash: Uint8Array): Promise<Buffer>;
}

/**
 * Returns OpenSSL's arguments for a new key. Authorities get larger keys, and therefore longer certificates. OpenSSL
 * writes their certificates last, and DER requires the longest certificate to be last.
 */
const newKey = (key: "ec" | "rsa", isAuthority: boolean) =>
  key === "ec"
    ? ["-newkey", "ec", "-pkeyopt", `ec_paramgen_curve:${isAuthority ? "P-384" : "P-256"}`]
    : ["-newkey", isAuthority ? "rsa:3072" : "rsa:2048"];

const stampUsages = ["keyUsage = critical, digitalSignature", "extendedKeyUsage = critical, timeStamping"];

/** Makes keys and certificates with OpenSSL. Removes them when it is disposed. */
export async function makeAuthority(options: AuthorityOptions = {}): Promise<Authority> {
  const { key = "ec", usages = stampUsages, period, hasIntermediate = false } = options;
  const folder = await mkdtemp(join(tmpdir(), "nova-tsa-"));
  const openssl = (...args: string[]) => run("openssl", args, { cwd: folder });
  const write = (name: string, data: string | Uint8Array) => writeFile(join(folder, name), data);
  const requestKey = (name: string, extra: string[]) =>
    openssl(
      "req",
      ...newKey(key, name !== "tsa"),
      "-nodes",
      "-keyout",
      `${name}.key`,
      "-subj",
      `/O=NOVA tests/CN=${name}`,
      ...extra,
    );
  /** Signs a certificate with the key of `issuer`, or with its own key if `issuer` is null. */
  const sign = async (name: string, issuer: string | null, extensions: string[], [start, end] = always) => {
    await requestKey(name, ["-new", "-out", `${name}.csr`]);
    await write(`${name}.ext`, extensions.join("\n"));
    const from = [
      ...(issuer === null ? ["-selfsign"] : ["-cert", `${issuer}.pem`]),
      "-keyfile",
      `${issuer ?? name}.key`,
      "-in",
      `${name}.csr`,
      "-extfile",
      `${name}.ext`,
    ];
    await openssl(
      "ca",
      "-batch",
      "-notext",
      "-config",
      "ca.cnf",
      ...from,
      "-out",
      `${name}.pem`,
      "-startdate",
      start,
      "-enddate",
      end,
    );
  };
  await write("ca.cnf", caConfiguration);
  await write("index", "");
  await sign("root", null, caUsages);
  if (hasIntermediate) await sign("middle", "root", caUsages);
  await sign("tsa", hasIntermediate ? "middle" : "root", usages, period);
  await write("tsa.cnf", tsaConfiguration(hasIntermediate));
  await write("serial", "01");

  const read = (name: string) => readFile(join(folder, name), "utf8");
  let count = 0;
  // Requests are answered one by one. OpenSSL keeps the number of the next stamp in a file, so two answers at the same
  // time would get the same number.
  let last: Promise<unknown> = Promise.resolve();
  const reply = (query: Uint8Array, ...extra: string[]) => {
    const answer = last.then(async () => {
      const name = `query-${count++}`;
      await write(name, query);
      await openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", name, "-out", `${name}.out`, ...extra);
      return readFile(join(folder, `${name}.out`));
    });
    last = answer.catch(() => undefined);
    return answer;
  };
  return {
    folder,
    ca: await read("root.pem"),
    certificate: await read("tsa.pem"),
    privateKey: await read("tsa.key"),
    answer: (query) => reply(query),
    async stamp(hash) {
      const name = `own-${count++}`;
      const digest = Buffer.from(hash).toString("hex");
      await openssl("ts", "-query", "-digest", digest, "-sha256", "-cert", "-out", name);
      return reply(await readFile(join(folder, name)), "-token_out");
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const caUsages = ["basicConstraints = critical, CA:TRUE", "keyUsage = critical, keyCertSign, cRLSign"];

/**
 * The default period of validity of certificates. It starts in the past, because tests also stamp proofs with earlier
 * times.
 */
const always: [from: string, to: string] = ["20200101000000Z", "20491231235959Z"];

const caConfiguration = `
[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
organizationName = optional
commonName = supplied
`;

function tsaConfiguration(hasIntermediate: boolean): string {
  return `
[tsa]
default_tsa = own
[own]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
${hasIntermediate ? "certs = middle.pem" : ""}
signer_digest = sha256
default_policy = 1.3.6.1.4.1.99999.1
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
`;
}
