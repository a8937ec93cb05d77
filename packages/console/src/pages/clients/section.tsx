import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type JSX, type ReactNode, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import "../../parts/field.css";
import "./section.css";

interface SectionProps {
  slug: string;
  title: string;
  hint?: string;
  /** What is to be changed; undefined: nothing, or not in this way. */
  change: Changes | undefined;
  children: ReactNode;
}

export type Changes = Parameters<ReturnType<typeof useNova>["clients"]["change"]>[1];

/** A part of a client that is saved by itself. */
export function Section({ slug, title, hint, change, children }: SectionProps): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [state, setState] = useState<"saving" | "saved">();
  const [error, setError] = useState<unknown>();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (change === undefined) return;
    setState("saving");
    setError(undefined);
    try {
      queries.setQueryData(["client", slug], await nova.clients.change(slug, change));
      setState("saved");
      await queries.invalidateQueries({ queryKey: ["clients"] });
    } catch (refused) {
      setState(undefined);
      setError(refused);
    }
  };
  const isSaved = state === "saved" && change === undefined;
  return (
    <Card title={title} hint={hint}>
      <form className="card-body form" onSubmit={save}>
        {children}
        <Trouble error={error} />
        <div className="form-end">
          <Button submit tone="main" disabled={change === undefined || state === "saving"}>
            {texts.common.save}
          </Button>
          <span role="status" className="saved">
            {isSaved && (
              <>
                <Icon name="check" size={14} /> {texts.common.saved}
              </>
            )}
          </span>
        </div>
      </form>
    </Card>
  );
}

/** Nothing to change is no change. */
export function changeOf(changes: Changes): Changes | undefined {
  return Object.keys(changes).length === 0 ? undefined : changes;
}
