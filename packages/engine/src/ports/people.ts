/** How NOVA has proved an identity: by the token of an issuer, by an API key with an identity, or by a mailed link. */
export interface Via {
  kind: "jwt" | "key" | "mail";
  /** The issuer of the token. */
  issuer?: string;
  /** Id of the API key. */
  key?: string;
}

/** A person whose identity NOVA has proved. */
export interface Person {
  /** The proved mail address. Without one, `subject` and the subject of the token. */
  name: string;
  /**
   * All ids of the person: the mail address in lower case, and for a token the id of its subject. Two records name the
   * same person if they share an id.
   */
  ids: readonly string[];
  /** The roles and groups that the token names. A key has only its own role. */
  roles: readonly string[];
  groups: readonly string[];
  via: Via;
}

/** The form in which entries name a person: without roles and groups, because these change. */
export type NamedPerson = Pick<Person, "name" | "ids" | "via">;

export function isSamePerson(one: Pick<Person, "ids">, other: Pick<Person, "ids">): boolean {
  return one.ids.some((id) => other.ids.includes(id));
}

export function namedPerson({ name, ids, via }: Person): NamedPerson {
  return { name, ids, via };
}
