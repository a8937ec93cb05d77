import { fileURLToPath } from "node:url";
import { templateLines } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import type { BuildInfo, LogEntry, TemplateBuilder } from "e2b";

const units = "/etc/systemd/system";
const contextFolder = fileURLToPath(new URL("../template", import.meta.url));

const nova = "/usr/local/lib/nova";
/** The index of docstrings inside a template. */
const docstringsFile = `${nova}/docstrings.json`;

/**
 * Returns a template: E2B's code interpreter with NOVA's packages and a warm Python process. The process is a systemd
 * service, because a start command would replace the command that starts the code interpreter.
 */
export async function sandboxTemplate(requirements: string[] = []): Promise<TemplateBuilder> {
  const { Template } = await import("e2b");
  const wants = `${units}/multi-user.target.wants`;
  return Template({ fileContextPath: contextFolder })
    .fromTemplate("code-interpreter-v1")
    .pipInstall(templateLines(requirements).map(shellWord))
    .copy("docstrings.py", `${nova}/docstrings.py`, { user: "root", mode: 0o644 })
    .runCmd(["python3", `${nova}/docstrings.py`, ...requirements.map(shellWord), ">", docstringsFile].join(" "), {
      user: "root",
    })
    .copy("warm.py", `${nova}/warm.py`, { user: "root", mode: 0o644 })
    .copy("nova-warm.service", `${units}/nova-warm.service`, { user: "root", mode: 0o644 })
    .runCmd(`mkdir -p ${wants} && ln -sf ../nova-warm.service ${wants}/`, { user: "root" });
}

export interface BuildTemplateOptions {
  /** Name of the template: lower-case letters, digits and `-`. */
  name: string;
  /** pip requirements of the workflows that will use the template. */
  requirements?: string[];
  onLog?: (line: string) => void;
}

/** Builds a template on E2B's side, which takes some minutes. The resulting id belongs in `E2B_TEMPLATE_ID`. */
export async function buildTemplate({ name, requirements, onLog }: BuildTemplateOptions): Promise<BuildInfo> {
  const { Template } = await import("e2b");
  return Template.build(await sandboxTemplate(requirements), name, {
    cpuCount: 2,
    memoryMB: 2048,
    ...(onLog && { onBuildLogs: (entry: LogEntry) => onLog(entry.toString()) }),
  });
}

export async function templateExists(name: string): Promise<boolean> {
  const { Template } = await import("e2b");
  return Template.exists(name);
}

/**
 * Reads the index of docstrings (JSON) of a template. Starts a sandbox from the template for this, and kills it
 * afterwards.
 */
export async function readDocstrings(template: string): Promise<string> {
  const { Sandbox } = await import("e2b");
  const closed = { allowInternetAccess: false, network: { allowPublicTraffic: false } };
  const sandbox = await Sandbox.create(template, { timeoutMs: 60_000, ...closed });
  try {
    return await sandbox.files.read(docstringsFile);
  } finally {
    await sandbox.kill();
  }
}
