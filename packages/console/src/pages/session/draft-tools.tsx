import type { Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { strToU8, zipSync } from "fflate";
import { useState } from "react";
import { useNova } from "../../api/nova.ts";
import { usePages, useWorkflowName } from "../../api/queries.ts";
import { asRaw, formatJson, parseObject } from "../../json/raw.ts";
import { FileButton, IconButton } from "../../parts/button.tsx";
import { DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextArea } from "../../parts/field.tsx";
import { describeRun } from "../../parts/run-text.ts";
import { saveFile } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";
import { deriveSlug } from "../workflows/workflow-files.ts";
import { listExportFiles, readDoc } from "./draft-doc.ts";
import type { DraftEditing } from "./use-draft.ts";

const words = texts.build;

/** Shows the buttons that undo and redo changes, edit the sample input, and export the draft. */
export function DraftTools({ session, draft }: { session: Session; draft: DraftEditing }) {
  return (
    <>
      <IconButton icon="undo" label={words.undo} disabled={!draft.canUndo} onClick={() => void draft.undo()} />
      <IconButton icon="redo" label={words.redo} disabled={!draft.canRedo} onClick={() => void draft.redo()} />
      <DialogButton icon="file" label={words.sample.title} dialog={<SampleInput session={session} />} />
      <IconButton icon="download" label={words.exportZip} onClick={() => exportDraft(session)} />
    </>
  );
}

/** Saves the folder of the workflow, as `nova init` makes it. */
function exportDraft(session: Session): void {
  const { name, settings, files, workflow, context } = session;
  const texts = listExportFiles({ ...readDoc(session), name, settings, files, context: asRaw(context).text });
  const folder = workflow ?? (deriveSlug(name) || "workflow");
  const zip = zipSync(Object.fromEntries(texts.map(({ path, text }) => [`${folder}/${path}`, strToU8(text)])));
  saveFile(`${folder}.zip`, new Blob([zip], { type: "application/zip" }));
}

/** A dialog for the initial context of every run of the session. The user types it, or chooses a file or a past run. */
function SampleInput({ session }: { session: Session }) {
  const { session_id: id, workflow, revision } = session;
  const nova = useNova();
  const queries = useQueryClient();
  const [text, setText] = useState(() => formatJson(asRaw(session.context).text));
  const [problem, setProblem] = useState<string>();
  const nameOf = useWorkflowName();
  const runs = usePages("/executions", { query: { limit: 25, ...(workflow !== null && { workflow }) } });
  const context = parseObject(text);
  const take = async (run: string) => {
    if (run === "") return;
    const { output_result: start } = await nova.executions.link(run, 0);
    setText(formatJson(asRaw(start).text));
  };
  const read = async (file: File | undefined) => {
    const content = await file?.text();
    setProblem(undefined);
    if (content === undefined) return;
    if (parseObject(content)) setText(formatJson(content));
    else setProblem(texts.sessions.misfit);
  };
  const save = async () => {
    if (!context) return;
    queries.setQueryData(["session", id], await nova.sessions.change(id, { context }, { revision }));
  };
  return (
    <FormDialog title={words.sample.title} action={texts.common.save} isIncomplete={!context} onSubmit={save}>
      <p className="quiet">{words.sample.hint}</p>
      <SelectField
        label={words.sample.ofRun}
        value=""
        values={[
          ["", words.sample.chooseRun],
          ...(runs.data ?? []).map((run) => [run.execution_id, describeRun(run, nameOf)] as const),
        ]}
        onChange={(run) => void take(run)}
      />
      <div className="line">
        <FileButton icon="upload" label={words.sample.file} onFiles={([file]) => void read(file)}>
          {words.sample.file}
        </FileButton>
      </div>
      <TextArea
        label={words.sample.context}
        hint={text.includes('"***"') ? words.sample.secret : undefined}
        error={problem ?? (context ? undefined : texts.sessions.misfit)}
        value={text}
        rows={12}
        onChange={setText}
      />
    </FormDialog>
  );
}
