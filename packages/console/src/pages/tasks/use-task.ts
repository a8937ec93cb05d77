import type { Task } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { asRaw, listMembers, Raw } from "../../json/raw.ts";

const pauseMs = 5_000;

/**
 * Reads a task. An open task is polled because others may answer it, and an answered task until its entry is recorded.
 */
export function useTask(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["task", id],
    queryFn: () => nova.tasks.get(id),
    refetchInterval({ state: { data } }) {
      const isUnrecorded = data?.status === "answered" && data.outcome === null && data.named !== null;
      return data?.status === "open" || isUnrecorded ? pauseMs : false;
    },
  });
}

/** Builds the data of an answer; the comment is a member of its own. */
export function addComment(members: readonly string[], comment: string): Raw | undefined {
  const all = comment === "" ? members : [...members, `"comment":${JSON.stringify(comment)}`];
  return all.length === 0 ? undefined : new Raw(`{${all.join(",")}}`);
}

/** Finds the form of a choice. Choices without a form of their own share one. */
export function findForm({ form, forms }: Task, choice: string | undefined): string | undefined {
  const choiceForm =
    forms && choice !== undefined ? listMembers(asRaw(forms).text).find(({ key }) => key === choice) : undefined;
  return choiceForm?.text ?? (form ? asRaw(form).text : undefined);
}
