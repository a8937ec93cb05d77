/** The harness's folder in a sandbox, in root's home, because other users cannot read that. */
export const root = "/root/.nova-sandbox";

/**
 * The code of the cell that passes an uploaded input to the harness. `~` is root's home, which a local sandbox without
 * isolation has elsewhere. One harness serves a sandbox for its whole life, even if a later adapter has a newer
 * version: two harnesses would not see each other's claims.
 */
export function cell(input: string): string {
  return [...preamble, attachTo(input)].join("\n");
}

/** The code of a cell that contains its input and writes the file that an upload would have created. */
export function cellWith(input: string, text: string): string {
  const flags = "os.O_CREAT | os.O_EXCL | os.O_WRONLY";
  return [
    ...preamble,
    'os.makedirs(f"{root}/inputs", exist_ok=True)',
    `with open(os.open(f"{root}/inputs/${input}", ${flags}, 0o600), "wb") as file:`,
    // A JSON string is also a Python string if it has no lone surrogates, which well-formed JSON escapes.
    `    file.write(${JSON.stringify(text)}.encode())`,
    attachTo(input, true),
  ].join("\n");
}

const preamble = [
  "import os, sys",
  'root = os.path.expanduser("~/.nova-sandbox")',
  `root = root if os.path.isdir(root) else "${root}"`,
  'if "nova_harness" not in sys.modules: exec(compile(open(f"{root}/harness.py").read(), "harness.py", "exec"), {})',
  "import nova_harness",
];

function attachTo(input: string, inCell = false): string {
  return `nova_harness.attach("${input}", root${inCell ? ", True" : ""})`;
}

export interface SandboxFile {
  path: string;
  data: string;
}

/** Files of the workflow's own modules: both `lib/tools.py` and `tools.py` become the module `tools`. */
export function libFiles(lib: Record<string, string>): SandboxFile[] {
  return Object.entries(lib).map(([name, data]) => ({ path: `${root}/lib/${name.replace(/^lib\//, "")}`, data }));
}
