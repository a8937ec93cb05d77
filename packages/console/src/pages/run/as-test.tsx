import type { WholeExecution } from "@nova/client";
import { type JSX, useState } from "react";
import { Ask } from "../../parts/ask.tsx";
import { useCopy } from "../../parts/copy-button.tsx";
import { TextField } from "../../parts/field.tsx";
import { texts } from "../../texts.ts";

const words = texts.run.asTest;
const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Tests lie in the folder of their workflow, so a command writes them and not this page. */
export function AsTestDialog({ run, onClose }: { run: WholeExecution; onClose(): void }): JSX.Element {
  const [name, setName] = useState(run.execution_id.slice(-6).toLowerCase());
  const { isCopied, copy } = useCopy();
  const isName = namePattern.test(name);
  const command = `nova test add ${run.execution_id} --name ${isName ? name : "…"}`;
  return (
    <Ask
      title={words.title}
      action={isCopied ? texts.common.copied : words.copy}
      isPending={!isName}
      error={null}
      onSubmit={() => copy(command)}
      onClose={onClose}
    >
      <p className="quiet">{words.hint}</p>
      <TextField label={words.name} value={name} error={isName ? undefined : words.noName} onChange={setName} />
      <code className="command">{command}</code>
    </Ask>
  );
}
