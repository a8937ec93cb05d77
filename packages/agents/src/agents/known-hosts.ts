import type { Surroundings } from "../failures/fault-of.ts";
import type { NodeRun } from "./node-run.ts";

const mostBytes = 262_144;
const mostBlobs = 8;

/** Hosts that a node's code was told about; `proven` code has reached those that it names itself. */
export function knownHosts(run: NodeRun, proven?: string): Surroundings {
  const { task, executor } = run;
  const inline = [
    executor.prompt,
    ...executor.allow,
    ...task.input.map(({ json }) => json),
    ...Object.values(task.version.workflow.lib),
    proven ?? "",
  ];
  let large: Promise<string[]> | undefined;
  return {
    async names(host) {
      if (inline.some((text) => speaksOf(text, host))) return true;
      large ??= largeTexts(run);
      return (await large).some((text) => speaksOf(text, host));
    },
    has: (key) => task.input.some((member) => member.key === key),
  };
}

/** Texts of the context that lie in blobs; a host may well stand in a mail. */
async function largeTexts({ task, means }: NodeRun): Promise<string[]> {
  const keys = task.input.filter(({ json }) => json.includes('"$blob"')).slice(0, mostBlobs);
  const texts = await Promise.all(keys.map(({ key }) => means.valueText(key, mostBytes)));
  return texts.filter((text) => text !== null);
}

/** As a whole name: `acme.com` is not named by `mail.acme.com`. The text may be JSON, with escapes in it. */
function speaksOf(text: string, host: string): boolean {
  const escaped = host.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const plain = text.replace(/\\[nrtbf/]/g, " ");
  return new RegExp(`(^|[^\\w.-])${escaped}($|[^\\w.-]|\\.(\\W|$))`, "i").test(plain);
}
