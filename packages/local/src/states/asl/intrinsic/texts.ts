import { createHash } from "node:crypto";
import type { Json } from "../json.ts";
import { arity, type Intrinsic, object, text } from "./arguments.ts";

/** Step Functions: the longest text that hashing and Base64 take. */
const LONGEST_TEXT = 10_000;

const ALGORITHMS: Record<string, string> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

export const textFunctions: Record<string, Intrinsic> = {
  "States.Format": ([template, ...values]) => format(text(template ?? null, "template"), values),

  "States.StringToJson": (values) => {
    arity(values, 1);
    const json = text(values[0], "argument");
    if (json.trim() === "") return null;
    try {
      return JSON.parse(json);
    } catch (error) {
      throw new RangeError(`The string is not JSON: ${(error as SyntaxError).message}`);
    }
  },

  "States.JsonToString": (values) => {
    arity(values, 1);
    return JSON.stringify(values[0]);
  },

  "States.JsonMerge": (values) => {
    arity(values, 3);
    if (values[2] !== false) throw new RangeError("Only shallow merging is supported: the last argument must be false");
    return { ...object(values[0], "first argument"), ...object(values[1], "second argument") };
  },

  "States.StringSplit": (values) => {
    arity(values, 2);
    const delimiters = new Set(text(values[1], "delimiter"));
    return splitAtAny(text(values[0], "first argument"), delimiters);
  },

  "States.Base64Encode": (values) => {
    arity(values, 1);
    return Buffer.from(text(values[0], "argument", LONGEST_TEXT)).toString("base64");
  },

  "States.Base64Decode": (values) => {
    arity(values, 1);
    return Buffer.from(text(values[0], "argument", LONGEST_TEXT), "base64").toString("utf8");
  },

  "States.Hash": (values) => {
    arity(values, 2);
    const algorithm = ALGORITHMS[text(values[1], "algorithm")];
    if (!algorithm) throw new RangeError(`The algorithm must be one of ${Object.keys(ALGORITHMS).join(", ")}`);
    const data = typeof values[0] === "string" ? values[0] : JSON.stringify(values[0]);
    return createHash(algorithm)
      .update(text(data, "data", LONGEST_TEXT))
      .digest("hex");
  },
};

/** Every character of the delimiter splits, and nothing empty is kept: AWS does both. */
function splitAtAny(source: string, delimiters: Set<string>): string[] {
  const parts = [""];
  for (const character of source) {
    if (delimiters.has(character)) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part !== "");
}

function format(template: string, values: Json[]): string {
  let used = 0;
  const result = template.replace(/\\([{}\\'])|\{\}/g, (_all, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    return javaText(values[used++] ?? null);
  });
  if (used !== values.length) {
    throw new RangeError(`The template has ${used} occurrences of {} but ${values.length} arguments`);
  }
  return result;
}

/** Objects print as a Java map does, `{key=value}`: not JSON, but what AWS gives. */
function javaText(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(javaText).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${key}=${javaText(inner)}`)
    .join(", ")}}`;
}
