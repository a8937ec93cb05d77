import type { Member } from "../../json/text.ts";
import type { CredentialKindName } from "../../ports/credential-store.ts";
import { type CredentialValues, kindOf } from "./kinds.ts";

export interface OpenCredential {
  name: string;
  kind: CredentialKindName;
  values: CredentialValues;
}

/**
 * What lies over the context, under the flat names of each kind. Of several of one kind the first has the plain names,
 * and those of the others begin with the credential's own: `support_email_user`.
 */
export function flatMembers(credentials: readonly OpenCredential[]): Member[] {
  const seen = new Set<CredentialKindName>();
  return inOrder(credentials).flatMap(({ name, kind, values }) => {
    const prefix = seen.has(kind) && kind !== "custom" ? `${name}_` : "";
    seen.add(kind);
    return Object.entries(kindOf(kind).flatten(values, name)).map(([field, value]) => ({
      key: prefix + field,
      json: JSON.stringify(value),
    }));
  });
}

/** The one that is called like its kind is the first of it; the others stay as they are. */
function inOrder(credentials: readonly OpenCredential[]): OpenCredential[] {
  const isNamesake = ({ name, kind }: OpenCredential) => name === kind;
  return [...credentials.filter(isNamesake), ...credentials.filter((one) => !isNamesake(one))];
}
