import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Python } from "../../../../packages/e2b-local/src/python.ts";

/**
 * Makes the smallest possible wheel of a Python package (`novatiny.answer` is 42), so that pip downloads nothing in the
 * test.
 */
export async function makeWheel(python: Pick<Python, "path">, folder: string): Promise<string> {
  const wheel = join(folder, "novatiny-1.0-py3-none-any.whl");
  await writeFile(join(folder, "make.py"), program);
  await promisify(execFile)(python.path, [join(folder, "make.py"), wheel]);
  return wheel;
}

const program = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("novatiny.py", "answer = 42\\n")
    info = "novatiny-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: novatiny\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "novatiny.py,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n" + info + "RECORD,,\\n")
`;
