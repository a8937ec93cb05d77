import { type CodeKeys, codeKeys, nearKey } from "@nova/python";
import type { Finding, ParsedWorkflow } from "@nova/workflow";

/** Characters of code of one workflow that are looked into: to follow what code does takes a few milliseconds a KB. */
const most = 60_000;

/** NOVA508: keys that nothing before sets. */
export function checkKnownKeys({ workflow, keyFindings }: ParsedWorkflow): Finding[] {
  // A module of lib/ may print a result of its own.
  if (Object.values(workflow?.lib ?? {}).some((source) => /dump|__main__|inspect/.test(source))) return [];
  let left = most;
  const read = new Map<string, CodeKeys | null>();
  const keysOf = (code: string) => {
    const known = read.get(code);
    if (known !== undefined) return known;
    left -= code.length;
    const found = left < 0 ? null : codeKeys(code);
    read.set(code, found);
    return found;
  };
  return keyFindings({ codeKeys: keysOf, nearKey });
}
