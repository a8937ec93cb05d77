import { InvalidInput } from "../errors.ts";

/** NOVA's form of ids. The folder name and a printed command contain the id, so any other form is refused. */
const workflowId = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** File types that a definition may name, and those that NOVA writes. */
const readable = /\.(py|txt|md)$/;
const maxNameBytes = 255;
const maxPathBytes = 1024;

/** Checks the id and version of a workflow that a server has sent. Throws `InvalidInput`. */
export function demandIdentity({ workflowId: id, version }: { workflowId: unknown; version: unknown }): void {
  const isId = typeof id === "string" && workflowId.test(id);
  if (isId && Number.isSafeInteger(version) && (version as number) > 0) return;
  throw new InvalidInput("the server sent no valid id and version of a workflow - ask its operator");
}

/** Checks a file name in a definition that a server has sent. Throws `InvalidInput`. */
export function demandFileName(path: string): void {
  const names = path.split("/");
  const isPlain = names.every(
    (name) => name !== "" && !name.startsWith(".") && Buffer.byteLength(name) <= maxNameBytes,
  );
  const isText = !/[\p{C}\\:]/u.test(path) && Buffer.byteLength(path) <= maxPathBytes;
  if (isPlain && isText && (readable.test(path) || path === "workflow.lock.json")) return;
  const shown = JSON.stringify(path.replaceAll(/\p{C}/gu, " ").slice(0, 100));
  throw new InvalidInput(
    `the workflow names the file ${shown}, which is not a code file of its folder - it cannot be pulled`,
  );
}

/** Checks the key of an input, because the user must be able to type it. Throws `InvalidInput`. */
export function demandKey(key: string): string {
  if (!/\p{C}/u.test(key)) return key;
  throw new InvalidInput(
    "an input of the workflow has a character in its name that cannot be typed - it cannot be pulled",
  );
}
