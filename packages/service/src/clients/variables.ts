import { deepestNesting, membersOf, nestingOf, objectText } from "@nova/engine";
import { Refused } from "../errors.ts";

const mostVariables = 100;
const mostBytes = 64 * 1024;
/** What Python can have as a name, so that `context["company"]` needs no quoting anywhere. */
const nameOfVariable = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Throws `Refused` for variables that no context could begin with. JSON text of an object. */
export function checkVariables(variables: string): void {
  const members = membersOf(variables);
  const odd = members.find(({ key }) => !nameOfVariable.test(key));
  if (odd) {
    const name = JSON.stringify(odd.key.slice(0, 80));
    throw new Refused(`variable ${name} cannot be a name - use letters, digits and _, at most 64, no digit first`);
  }
  const upload = members.find(({ json }) => json.includes('"$upload"'));
  if (upload)
    throw new Refused(`variable "${upload.key}" names an upload, which lives for a day - send it with each run`);
  if (members.length > mostVariables) {
    throw new Refused(
      `a client has at most ${mostVariables} variables, not ${members.length} - put some into an object`,
    );
  }
  const depth = nestingOf(variables);
  if (depth > deepestNesting) {
    throw new Refused(
      `variables are nested at most ${deepestNesting} levels deep, as contexts are, not ${depth} - make them flatter`,
    );
  }
  const bytes = Buffer.byteLength(variables);
  if (bytes > mostBytes) throw new Refused(`variables have at most ${mostBytes} bytes, not ${bytes} - send less`);
}

/** A context as a run begins with it: the client's variables, and over them what was sent, each as it was written. */
export function withVariables(variables: string | undefined, context: string): string {
  if (variables === undefined) return context;
  const sent = membersOf(context);
  const keys = new Set(sent.map(({ key }) => key));
  return objectText([...membersOf(variables).filter(({ key }) => !keys.has(key)), ...sent]);
}
