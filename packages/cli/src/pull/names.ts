import { InvalidInput } from "../errors.ts";

/** As NOVA makes ids: a folder is named after one, and it stands in a command that is printed to be typed. */
const workflowId = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Of what a definition names, and of what NOVA writes beside it. */
const readable = /\.(py|txt|md)$/;
const maxNameBytes = 255;
const maxPathBytes = 1024;

/** Throws `InvalidInput` for what a server answers that is no workflow's id and version. */
export function demandIdentity({ workflowId: id, version }: { workflowId: unknown; version: unknown }): void {
  const isId = typeof id === "string" && workflowId.test(id);
  if (isId && Number.isSafeInteger(version) && (version as number) > 0) return;
  throw new InvalidInput("the server answered no id and version of a workflow - ask who runs it");
}

/** Throws `InvalidInput` for a file that a definition from elsewhere may not make in the folder. */
export function demandFileName(path: string): void {
  const names = path.split("/");
  const isPlain = names.every(
    (name) => name !== "" && !name.startsWith(".") && Buffer.byteLength(name) <= maxNameBytes,
  );
  const isText = !/[\p{C}\\:]/u.test(path) && Buffer.byteLength(path) <= maxPathBytes;
  if (isPlain && isText && (readable.test(path) || path === "workflow.lock.json")) return;
  const shown = JSON.stringify(path.replaceAll(/\p{C}/gu, " ").slice(0, 100));
  throw new InvalidInput(`the workflow names the file ${shown}, which is none of its folder's code - it is not pulled`);
}

/** Throws `InvalidInput` for the key of an input that nobody could type. */
export function demandKey(key: string): string {
  if (!/\p{C}/u.test(key)) return key;
  throw new InvalidInput(
    "an input of the workflow has a character in its name that nobody can type - it is not pulled",
  );
}
