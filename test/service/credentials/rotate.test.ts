import { type CredentialRecord, createCredentials } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import { type AuditRecord, rotateCredentials, setCredential } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryCredentials, mirrorCipher } from "../../support/credentials.ts";

const owner = { client: "default" };
const now = Date.parse("2026-01-01T00:00:00.000Z");

let store: MemoryCredentials;
let keys: string[];
let deeds: AuditRecord[];
let ports: ServicePorts;

beforeEach(async () => {
  [store, keys, deeds] = [new MemoryCredentials(), ["key-1"], []];
  const cipher = mirrorCipher(keys);
  const fetch = () => Promise.reject(new RangeError("nobody asks for a token"));
  ports = {
    credentialStore: store,
    credentialCipher: cipher,
    credentials: createCredentials({ store, cipher, now: () => now, sleep: fetch, fetch }),
    clock: { now: () => now, sleep: async () => undefined },
    audit: { append: async (record: AuditRecord) => void deeds.push(record), list: async () => [] },
  } as Partial<ServicePorts> as ServicePorts;
  for (const name of ["a", "b", "c"]) await set(name, `s3cret-${name}`);
});

function set(name: string, key: string) {
  return setCredential(ports, null, { owner, name, kind: "custom", values: { key } });
}

async function sealedWith(): Promise<string[]> {
  return (await store.list(owner)).map(({ key }) => key);
}

describe("a rotation of credential keys", () => {
  it("encrypts all credentials with a new key, removes the old key, and is recorded in the audit log", async () => {
    expect(await rotateCredentials(ports, null)).toEqual({ sealed: 3, locked: [] });
    expect(await sealedWith()).toEqual(["key-2", "key-2", "key-2"]);
    expect(keys).toEqual(["key-2"]);
    expect(deeds.at(-1)).toMatchObject({ action: "credentials.rotated", subject: "key-2", detail: { sealed: 3 } });
    expect((await ports.credentials.forNode("default", "wf", ["b"])).secrets).toEqual(["s3cret-b"]);
  });

  it("continues after an interruption with the same new key, and the old and the new key can decrypt until it ends", async () => {
    const { put } = store;
    let writes = 0;
    store.put = (record: CredentialRecord) => {
      if (++writes > 1) throw new Error("the process died");
      return put.call(store, record);
    };
    await expect(rotateCredentials(ports, null)).rejects.toThrow("died");
    store.put = put;
    expect([await sealedWith(), keys]).toEqual([
      ["key-2", "key-1", "key-1"],
      ["key-1", "key-2"],
    ]);
    expect((await ports.credentials.forNode("default", "wf", undefined)).secrets).toHaveLength(3);
    expect(await rotateCredentials(ports, null)).toEqual({ sealed: 2, locked: [] });
    expect([await sealedWith(), keys]).toEqual([["key-2", "key-2", "key-2"], ["key-2"]]);
  });

  it("does not lose the new values of a credential that is changed during the rotation", async () => {
    const { put } = store;
    store.put = async (record: CredentialRecord) => {
      store.put = put;
      await set("a", "s3cret-new");
      return put.call(store, record);
    };
    expect((await rotateCredentials(ports, null)).locked).toEqual([]);
    expect((await ports.credentials.forNode("default", "wf", ["a"])).members[0]?.json).toBe('"s3cret-new"');
  });

  it("names the credentials that no key decrypts, and does not remove the old keys", async () => {
    const [first] = await store.list(owner);
    await store.put({ ...(first as CredentialRecord), revision: 2, sealed: '["key-0",{},"{}"]' });
    expect(await rotateCredentials(ports, null)).toEqual({ sealed: 2, locked: ["client:default a"] });
    expect(keys).toEqual(["key-1", "key-2"]);
  });
});

describe("a secret for which a user has stored a new value", () => {
  it("is still masked in texts, but nodes no longer get it", async () => {
    await set("a", "s3cret-new");
    const { members, secrets } = await ports.credentials.forNode("default", "wf", ["a"]);
    expect(members).toEqual([{ key: "a_key", json: '"s3cret-new"' }]);
    expect(secrets).toEqual(["s3cret-new", "s3cret-a"]);
  });
});
