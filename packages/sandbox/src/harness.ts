/** The harness's folder in a sandbox, in root's home, because other users cannot read that. */
export const root = "/root/.nova-sandbox";

/** Returns the code of the cell that passes an uploaded input to the harness. */
export function cell(input: string): string {
  return `${preparation}\nnova_attach("${input}")`;
}

/**
 * Returns the code of a cell that contains the text of an input. The cell writes the text to a file, as an upload
 * would, and passes the input to the harness.
 */
export function cellWith(input: string, text: string): string {
  // A JSON string is also a Python string if it has no lone surrogates, which well-formed JSON escapes.
  return `${preparation}\nnova_attach("${input}", ${JSON.stringify(text)})`;
}

/**
 * The first cell of a kernel defines the function that all its cells call. The definition is a text inside `exec`, so
 * Python does not compile it again in later cells, which therefore start in a seventh of the time. `~` is root's home,
 * which a local sandbox without isolation has elsewhere. One harness serves a sandbox for its whole life, even if a
 * later adapter has a newer version: two harnesses would not see each other's claims.
 */
const preparation = `if "nova_attach" not in globals(): exec(${JSON.stringify(`
import os, sys
root = os.path.expanduser("~/.nova-sandbox")
root = root if os.path.isdir(root) else "${root}"
if "nova_harness" not in sys.modules: exec(compile(open(f"{root}/harness.py").read(), "harness.py", "exec"), {})
import nova_harness

def nova_attach(name, text=None):
    if text is not None:
        os.makedirs(f"{root}/inputs", exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        with open(os.open(f"{root}/inputs/{name}", flags, 0o600), "wb") as file:
            file.write(text.encode())
    nova_harness.attach(name, root, text is not None)
`)})`;

export interface SandboxFile {
  path: string;
  data: string;
}

/** Returns the files of the workflow's own modules: both `lib/tools.py` and `tools.py` become the module `tools`. */
export function libFiles(lib: Record<string, string>): SandboxFile[] {
  return Object.entries(lib).map(([name, data]) => ({ path: `${root}/lib/${name.replace(/^lib\//, "")}`, data }));
}
