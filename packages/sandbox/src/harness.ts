/** Below root's home: the one place of a sandbox that ordinary users cannot even look into. */
export const root = "/root/.nova-sandbox";

/**
 * The one cell there is, but for the input. `~` is root's home, wherever that is: without isolation a local
 * sandbox has it elsewhere. One harness serves a sandbox for all its life, whatever version later adapters have:
 * two of them would not see each other's claims.
 */
export function cell(input: string): string {
  return [...preamble, attachTo(input)].join("\n");
}

/** The same, for an input that is not uploaded: the cell writes what an upload would have left. */
export function cellWith(input: string, text: string): string {
  const flags = "os.O_CREAT | os.O_EXCL | os.O_WRONLY";
  return [
    ...preamble,
    'os.makedirs(f"{root}/inputs", exist_ok=True)',
    `with open(os.open(f"{root}/inputs/${input}", ${flags}, 0o600), "wb") as file:`,
    // JSON's texts are Python's too, as long as they hold no half of a surrogate pair, which well-formed JSON escapes.
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

/** The workflow's own modules: `lib/tools.py` and `tools.py` are the module `tools`. */
export function libFiles(lib: Record<string, string>): SandboxFile[] {
  return Object.entries(lib).map(([name, data]) => ({ path: `${root}/lib/${name.replace(/^lib\//, "")}`, data }));
}
