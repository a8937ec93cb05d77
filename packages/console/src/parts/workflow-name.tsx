import type { JSX } from "react";
import { useWorkflowName } from "../api/queries.ts";
import { UntrustedText } from "./untrusted-text.tsx";

/** The name of a workflow, the same in every list and header. */
export function WorkflowName({ id }: { id: string }): JSX.Element {
  return <UntrustedText text={useWorkflowName()(id)} />;
}
