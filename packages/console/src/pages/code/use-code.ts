import type { NovaClient } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { rawOf } from "../../json/answer.ts";
import { byUrgency, type CodeNode, codeNodesOf } from "./code-nodes.ts";

/** Requests at once: everybody shares what the API takes. */
const atOnce = 4;

/** Prompt nodes with code that models wrote: of one workflow, or of all of them. */
export function useCode(workflow: string | undefined) {
  const nova = useNova();
  return useQuery({
    queryKey: ["code", workflow],
    staleTime: 20_000,
    async queryFn(): Promise<CodeNode[]> {
      const wanted =
        workflow === undefined ? await Array.fromAsync(nova.workflows.list()) : [await nova.workflows.get(workflow)];
      const left = wanted.map(({ id, active_version }) => ({ id, version: active_version }));
      const found: CodeNode[] = [];
      const worker = async () => {
        for (let next = left.shift(); next; next = left.shift()) found.push(...(await codeOf(nova, next)));
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      return found.sort(byUrgency);
    },
  });
}

/** Compared with the version that new runs use. */
async function codeOf(nova: NovaClient, { id, version }: { id: string; version: number | null }): Promise<CodeNode[]> {
  const [{ definition }, generations] = await Promise.all([
    nova.workflows.get(id, version === null ? {} : { version }),
    Array.fromAsync(nova.workflows.generations(id)),
  ]);
  // Nothing of it is shown but texts: its numbers need no digits.
  return codeNodesOf({ workflow: id, definition: JSON.parse(rawOf(definition).text), generations });
}
