import type { ChainEntry, Task } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { rawOf } from "../../json/answer.ts";
import { membersOf, Raw } from "../../json/raw.ts";
import { contextAt, namesIn, outcomeIn } from "./about.ts";

const pauseMs = 5_000;

/** A task, asked for again as long as it waits: somebody else may answer it. */
export function useTask(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["task", id],
    queryFn: () => nova.tasks.get(id),
    refetchInterval: ({ state: { data } }) => (data?.status === "open" ? pauseMs : false),
  });
}

/** What a message names. */
export interface Named {
  path: string;
  /** JSON; undefined: the context does not have it. */
  text: string | undefined;
}

/** The values of the context that the message of a task names, as the node saw them. */
export function useNamed(task: Task) {
  const nova = useNova();
  const { execution_id: execution, workflow, version, node, message } = task;
  return useQuery({
    queryKey: ["named", task.task_id],
    enabled: message !== "",
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn(): Promise<Named[]> {
      const { definition } = await nova.workflows.get(workflow, { version });
      const names = namesIn(rawOf(definition), node);
      if (names.length === 0) return [];
      const context = await contextOf();
      return names.map((path) => ({ path, text: contextAt(context, path) }));
    },
  });

  /** Of the branch that it waits in; where it waits no longer, of the link that was written for it. */
  async function contextOf(): Promise<Raw> {
    const run = await nova.ask(
      nova.api.GET("/executions/{id}", { params: { path: { id: execution }, query: { references: "true" } } }),
    );
    const waiting = run.at_work.nodes.find(({ waits_for }) => isFor(waits_for, task.task_id));
    if (waiting && (waiting.scope === "" || waiting.seq === 0)) return rawOf(run.context);
    if (waiting) {
      const { output_result } = await nova.executions.link(execution, waiting.seq - 1, { scope: waiting.scope });
      return rawOf(output_result);
    }
    const found = await findOutcome(nova.executions.chain(execution), task);
    if (!found) return rawOf(run.context);
    const { seq, scope } = found.entry;
    return rawOf((await nova.executions.link(execution, seq, { scope })).input_context);
  }
}

function isFor(waits: object | null, task: string): boolean {
  return waits !== null && "task_id" in waits && waits.task_id === task;
}

/** Who answered what, from the link that was written for it; null until that is there. */
export function useOutcome(task: Task) {
  const nova = useNova();
  return useQuery({
    queryKey: ["outcome", task.task_id, task.status],
    enabled: task.status === "answered",
    refetchInterval: ({ state: { data } }) => (data === null ? pauseMs : false),
    queryFn: async () => (await findOutcome(nova.executions.chain(task.execution_id), task)) ?? null,
  });
}

async function findOutcome(entries: AsyncIterable<ChainEntry>, task: Task) {
  for await (const entry of entries) {
    const found = outcomeIn(entry, task);
    if (found) return found;
  }
  return undefined;
}

/** Answer's data with a comment under its own key. */
export function withComment(members: readonly string[], comment: string): Raw | undefined {
  const all = comment === "" ? members : [...members, `"comment":${JSON.stringify(comment)}`];
  return all.length === 0 ? undefined : new Raw(`{${all.join(",")}}`);
}

/** The form of each choice, and what all have that have none. */
export function formOf({ form, forms }: Task, choice: string | undefined): string | undefined {
  const own =
    forms && choice !== undefined ? membersOf(rawOf(forms).text).find(({ key }) => key === choice) : undefined;
  return own?.text ?? (form ? rawOf(form).text : undefined);
}
