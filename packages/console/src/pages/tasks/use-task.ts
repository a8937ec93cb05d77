import type { Task } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/answer.ts";
import { listMembers, Raw } from "../../json/raw.ts";

const pauseMs = 5_000;

/** A task, asked for again as long as it waits, since somebody else may answer it; then until its link is written. */
export function useTask(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["task", id],
    queryFn: () => nova.tasks.get(id),
    refetchInterval({ state: { data } }) {
      const isComing = data?.status === "answered" && data.outcome === null && data.named !== null;
      return data?.status === "open" || isComing ? pauseMs : false;
    },
  });
}

/** Answer's data with a comment under its own key. */
export function addComment(members: readonly string[], comment: string): Raw | undefined {
  const all = comment === "" ? members : [...members, `"comment":${JSON.stringify(comment)}`];
  return all.length === 0 ? undefined : new Raw(`{${all.join(",")}}`);
}

/** The form of each choice, and what all have that have none. */
export function findForm({ form, forms }: Task, choice: string | undefined): string | undefined {
  const own =
    forms && choice !== undefined ? listMembers(asRaw(forms).text).find(({ key }) => key === choice) : undefined;
  return own?.text ?? (form ? asRaw(form).text : undefined);
}
