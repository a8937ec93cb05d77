import { fileURLToPath } from "node:url";
import type { BuildInfo, LogEntry, TemplateBuilder } from "e2b";

/** What node code may import anywhere; local sandboxes have the same. */
export const templatePackages = ["pymupdf", "pandas", "requests", "pillow", "psycopg[binary]"];

const units = "/etc/systemd/system";
const contextFolder = fileURLToPath(new URL("../template", import.meta.url));

/**
 * E2B's code interpreter with NOVA's packages and a warm Python. It sets no start command: that would replace the one
 * that starts the code interpreter; the warm Python is a service of the system instead.
 */
export async function sandboxTemplate(requirements: string[] = []): Promise<TemplateBuilder> {
  const { Template } = await import("e2b");
  return Template({ fileContextPath: contextFolder })
    .fromTemplate("code-interpreter-v1")
    .pipInstall([...templatePackages, ...requirements].map(shellQuoted))
    .copy("warm.py", "/usr/local/lib/nova/warm.py", { user: "root", mode: 0o644 })
    .copy("nova-warm.service", `${units}/nova-warm.service`, { user: "root", mode: 0o644 })
    .runCmd(
      `mkdir -p ${units}/multi-user.target.wants && ln -sf ../nova-warm.service ${units}/multi-user.target.wants/`,
      {
        user: "root",
      },
    );
}

export interface BuildTemplateOptions {
  /** Lower case, digits, `-`. */
  name: string;
  /** pip lines of the workflows that will run in it. */
  requirements?: string[];
  onLog?: (line: string) => void;
}

/** Builds on E2B's side, in some minutes; what it answers goes into `E2B_TEMPLATE_ID`. */
export async function buildTemplate({ name, requirements, onLog }: BuildTemplateOptions): Promise<BuildInfo> {
  const { Template } = await import("e2b");
  return Template.build(await sandboxTemplate(requirements), name, {
    cpuCount: 2,
    memoryMB: 2048,
    ...(onLog && { onBuildLogs: (entry: LogEntry) => onLog(entry.toString()) }),
  });
}

/** The SDK joins packages to one shell command, where `pandas>=2` would be a redirection. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
