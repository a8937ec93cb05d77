import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { verifyProof } from "../src/index.ts";
import { describeVerdict, listRemarks } from "./describe.ts";

const usage = "nova-verify-proof <file> [--keys keys.json] [--tsa-ca ca.pem] [--json]";

class WrongUsage extends Error {
  override name = "WrongUsage";
}

/** Runs the command. Returns its exit code: 0 valid, 1 broken, 2 wrong usage. */
export async function main(args: string[]): Promise<number> {
  try {
    const { file, keys, tsaCa, isJson } = readArguments(args);
    const proof = await readNamed(file, "a proof");
    const trusted = {
      keys: keys && (await readNamed(keys, "keys")),
      tsaCa: tsaCa && (await readNamed(tsaCa, "certificates")),
    };
    const verdict = await verifyProof(proof, trusted).catch((cause) => {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new WrongUsage(`a trusted file cannot be used: ${cause.message} - check --keys and --tsa-ca`, { cause });
    });
    const lines = isJson ? [JSON.stringify(verdict)] : [describeVerdict(verdict), ...listRemarks(verdict)];
    process.stdout.write(`${lines.map(escapeControls).join("\n")}\n`);
    return verdict.state === "valid" ? 0 : 1;
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    process.stderr.write(`${escapeControls(error.message)}\n`);
    return 2;
  }
}

function readArguments(args: string[]) {
  try {
    const options = { keys: { type: "string" }, "tsa-ca": { type: "string" }, json: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new Error("it takes one proof file");
    return { file, keys: values.keys, tsaCa: values["tsa-ca"], isJson: values.json === true };
  } catch (cause) {
    throw new WrongUsage(`${(cause as Error).message} - use it as ${usage}`, { cause });
  }
}

function readNamed(path: string, what: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new WrongUsage(`there is no file ${path} that can be read (${cause.code}) - name a file with ${what}`, {
      cause,
    });
  });
}

/** Makes control characters visible, because a file from a stranger must not control the terminal. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
