import type { Person } from "@nova/engine";

/** A person whom NOVA knows by a mail address, as a key with this identity proves it. */
export function personOf(name: string, more: Partial<Person> = {}): Person {
  const mail = `${name}@acme.com`;
  return { name: mail, ids: [mail], roles: ["runner"], groups: [], via: { kind: "key", key: `key_${name}` }, ...more };
}
