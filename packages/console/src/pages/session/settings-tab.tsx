import type { Session } from "@nova/client";
import { useMemo, useRef } from "react";
import { Button, IconButton } from "../../parts/button.tsx";
import { Card } from "../../parts/page.tsx";
import { texts } from "../../texts.ts";
import { FindingList } from "../workflow/finding-list.tsx";
import { deriveSlug } from "../workflows/workflow-files.ts";
import {
  addTrigger,
  changeSettings,
  changeTrigger,
  type KeyedTrigger,
  keyTriggers,
  listTriggers,
  type Trigger,
} from "./draft-doc.ts";
import { type PublicationFinding, usePublicationFindings } from "./publish-changes.tsx";
import { SavedForm } from "./saved-form.tsx";
import { listSchemaFields, placeFindings } from "./schema-fields.ts";
import type { DraftEditing } from "./use-draft.ts";

const words = texts.build;
const triggerWords = words.triggers;

/** Fields of a workflow that are not settings, or that have their own form. */
const excluded = new Set(["$schema", "id", "name", "nodes", "edges", "graph_definition", "triggers"]);

interface SettingsTabProps {
  session: Session;
  draft: DraftEditing;
  /** The JSON schema of workflow files. */
  schema: string;
}

/** The triggers of a draft, and all other settings of its workflow. */
export function SettingsTab({ session, draft, schema }: SettingsTabProps) {
  const { settings } = session;
  const { data: checked } = usePublicationFindings(session);
  const findings = checked?.findings ?? [];
  const fields = useMemo(() => listSchemaFields(schema).filter(({ key }) => !excluded.has(key)), [schema]);
  const { triggers: _, on_failure, ...others } = settings;
  const keyed = useRef<readonly KeyedTrigger[]>([]);
  keyed.current = keyTriggers(listTriggers(settings), keyed.current);
  const hasReceivers = Object.keys(on_failure ?? {}).length > 0;
  return (
    <div className="settings-tab">
      <Card title={triggerWords.title} hint={triggerWords.hint}>
        <div className="card-body stack loose">
          {keyed.current.map(({ key, trigger }, index) => (
            <TriggerForm key={key} trigger={trigger} index={index} draft={draft} schema={schema} findings={findings} />
          ))}
          {keyed.current.length === 0 && <p className="quiet">{triggerWords.none}</p>}
          <fieldset className="line" aria-label={triggerWords.add}>
            {Object.entries(triggerWords.kinds).map(([type, kind]) => (
              <Button
                key={type}
                icon="plus"
                onClick={() => void draft.draw((doc) => addTrigger(doc, createTrigger(type, session)))}
              >
                {kind}
              </Button>
            ))}
          </fieldset>
        </div>
      </Card>
      <Card title={words.settings.title} hint={words.settings.hint}>
        <div className="card-body">
          <SavedForm
            id="settings"
            fields={fields}
            object={JSON.stringify({ ...others, ...(hasReceivers && { on_failure }) })}
            findings={placeFindings(fields, findings, "$").problems}
            save={(changes) => draft.apply((doc) => changeSettings(doc, changes))}
          />
        </div>
      </Card>
    </div>
  );
}

/** Creates a trigger with only the fields that its kind needs. */
function createTrigger(type: string, { name, client_slug }: Session): Trigger {
  const address = deriveSlug(name) || "workflow";
  const own: Record<string, object> = {
    schedule: { cron: "0 9 * * ? *" },
    mail: { address },
    imap: { client: client_slug },
    webhook: { id: address },
    event: { pattern: { source: [address] } },
  };
  return { type, ...own[type] };
}

interface TriggerFormProps extends Omit<SettingsTabProps, "session"> {
  trigger: Trigger;
  index: number;
  findings: readonly PublicationFinding[];
}

function TriggerForm({ trigger, index, draft, schema, findings }: TriggerFormProps) {
  const type = String(trigger.type);
  const kind = triggerWords.kinds[type as keyof typeof triggerWords.kinds] ?? triggerWords.unknown;
  const fields = useMemo(
    () => listSchemaFields(schema, `${type}_trigger`).filter(({ key }) => key !== "type"),
    [schema, type],
  );
  const { problems, others } = placeFindings(fields, findings, `$.triggers[${index}]`);
  const title = triggerWords.one(kind, index + 1);
  return (
    <section className="draft-trigger stack" aria-label={title}>
      <header className="row between">
        <h3>{title}</h3>
        <IconButton
          icon="bin"
          label={triggerWords.remove(kind, index + 1)}
          onClick={() => void draft.draw((doc) => changeTrigger(doc, trigger, index))}
        />
      </header>
      <FindingList className="tight small" findings={others} />
      <SavedForm
        id={`trigger-${index}`}
        fields={fields}
        object={JSON.stringify(trigger)}
        findings={problems}
        save={(changes) => draft.apply((doc) => changeTrigger(doc, trigger, index, changes))}
      />
    </section>
  );
}
