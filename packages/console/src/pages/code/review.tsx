import { useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { texts } from "../../texts.ts";
import type { CodeVersion } from "./code-nodes.ts";

const words = texts.code;

type Verdict = "approved" | "rejected";

/** Lets code run, or run no more. An approval cannot be taken back: other code can be approved in its place. */
export function ReviewButtons({
  workflow,
  version,
  isWaiting,
}: {
  workflow: string;
  version: CodeVersion;
  /** Nothing runs until somebody has approved it. */
  isWaiting: boolean;
}): JSX.Element | null {
  const nova = useNova();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Verdict>();
  const { node, client_slug, key, code_hash, status, approved } = version;
  if (status === "locked") return null;
  const review = async (verdict: Verdict) => {
    await nova.workflows.review(workflow, { node, client_slug, key, code_hash, verdict });
    await queries.invalidateQueries({ queryKey: ["code"] });
  };
  return (
    <>
      {status !== "replaced" && approved === null && (
        <Button icon="cross" tone="danger" onClick={() => setAsked("rejected")}>
          {words.reject}
        </Button>
      )}
      {(approved === null || status !== "pinned") && (
        <Button icon="check" tone={isWaiting ? "main" : "plain"} onClick={() => setAsked("approved")}>
          {words.approve}
        </Button>
      )}
      {asked && (
        <Confirm
          title={asked === "approved" ? words.confirmApprove(node) : words.confirmReject(node)}
          does={asked === "approved" ? words.approve : words.reject}
          act={() => review(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p className="quiet">{asked === "approved" ? words.confirmApproveHint : words.confirmRejectHint}</p>
        </Confirm>
      )}
    </>
  );
}
