import { Redactor } from "./redactor.ts";

/** Shorter values, such as the `local` of an emulator, occur everywhere. */
const shortestCredential = 8;
/** Names of variables that hold credentials: `OPENAI_API_KEY`, `AWS_SESSION_TOKEN`. */
const credentialName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;
/** Values that name a key or a file instead of holding a credential. */
const noCredential = /^(?:arn:|alias\/|[~.]?\/|file:)|^\d+$/;

let known: { values: string[]; redactor: Redactor } = { values: [], redactor: new Redactor([]) };

/** The credentials in the variables of a process, including passwords in addresses. */
function credentialsIn(variables: NodeJS.ProcessEnv): string[] {
  return Object.entries(variables).flatMap(([name, value = ""]) => {
    const [, password = ""] = /^[a-z+]+:\/\/[^/@\s]*:([^/@\s]+)@/i.exec(value) ?? [];
    const isCredential = credentialName.test(name) && !/_KMS_KEY$/i.test(name) && !noCredential.test(value);
    return [password, isCredential ? value.trim() : ""].filter(({ length }) => length >= shortestCredential);
  });
}

/**
 * Masks the credentials of this process in a message. Servers repeat a key that they refuse, and error messages reach
 * records, logs and answers.
 */
export function maskCredentials(text: string, variables: NodeJS.ProcessEnv = process.env): string {
  const values = credentialsIn(variables);
  if (values.length === 0) return text;
  if (values.length !== known.values.length || values.some((value, index) => value !== known.values[index])) {
    known = { values, redactor: new Redactor(values) };
  }
  return known.redactor.mask(text);
}
