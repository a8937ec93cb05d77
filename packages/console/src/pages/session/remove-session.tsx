import type { Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import type { JSX } from "react";
import { useNova } from "../../api/nova.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { texts } from "../../texts.ts";

const words = texts.sessions;

interface RemoveSessionProps {
  session: Pick<Session, "session_id" | "name">;
  onRemoved?(): void;
  onClose(): void;
}

export function RemoveSession({ session, onRemoved, onClose }: RemoveSessionProps): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const remove = async () => {
    await nova.sessions.delete(session.session_id);
    await queries.invalidateQueries({ queryKey: ["sessions"] });
    onRemoved?.();
  };
  return (
    <Confirm title={words.confirmRemove(session.name)} does={words.remove} act={remove} onClose={onClose}>
      <p className="quiet">{words.confirmRemoveHint}</p>
    </Confirm>
  );
}
