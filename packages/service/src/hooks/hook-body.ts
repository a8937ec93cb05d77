import { createHash } from "node:crypto";
import { type FileInPlace, newFileMark } from "@nova/engine";
import { halfCharacterIn } from "@nova/workflow";
import { Refused } from "../errors.ts";

/** A body as a run finds it: JSON text, and the bytes that its marks stand for. */
export interface HookBody {
  json: string;
  files: FileInPlace[];
}

/** JSON stays as it was written, digits and all; a form becomes an object, text a text, everything else bytes. */
export function readHookBody(contentType: string, bytes: Uint8Array): HookBody {
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (bytes.length === 0) return { json: "null", files: [] };
  if (/^application\/(json|[a-z0-9.+-]*\+json)$/.test(type)) return { json: jsonIn(textOf(bytes, type)), files: [] };
  if (type === "application/x-www-form-urlencoded") {
    return { json: JSON.stringify(formIn(textOf(bytes, type))), files: [] };
  }
  if (type.startsWith("text/")) return { json: JSON.stringify(textOf(bytes, type)), files: [] };
  return inPlace(bytes);
}

function textOf(bytes: Uint8Array, type: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Refused(`its body says that it is ${type} and is no UTF-8 text - send another content-type`, [], {
      cause,
    });
  }
}

function jsonIn(text: string): string {
  demandJson(text);
  const half = halfCharacterIn(text);
  if (half === undefined) return text;
  throw new Refused(`its body has half a character at ${half} (a surrogate alone) - send both halves, or neither`);
}

function demandJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const place = / at position (\d+)/.exec((error as SyntaxError).message)?.[1];
    const where = place === undefined ? "" : ` from character ${place} on`;
    throw new Refused(`its body is not JSON${where} - correct it, or send another content-type`);
  }
}

/** Fields that come more than once are lists. */
export function formIn(text: string): Record<string, string | string[]> {
  const form = new URLSearchParams(text);
  const names = new Set(form.keys());
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

function inPlace(bytes: Uint8Array): HookBody {
  const mark = newFileMark();
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const file: FileInPlace = {
    mark,
    sha256,
    bytes: bytes.length,
    async *open() {
      yield bytes;
    },
  };
  return { json: JSON.stringify(mark), files: [file] };
}
