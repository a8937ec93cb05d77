import type { CredentialOwner, Schemas } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { Button, IconButton } from "../../../parts/button.tsx";
import { Card } from "../../../parts/card.tsx";
import { Confirm } from "../../../parts/confirm.tsx";
import { Read } from "../../../parts/read.tsx";
import { Empty } from "../../../parts/states.tsx";
import { Table } from "../../../parts/table.tsx";
import { Time } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import { CredentialForm } from "./credential-form.tsx";

type Credential = Schemas["Credential"];

const words = texts.clients.credentials;

type Asked = { form: Credential | undefined } | { remove: Credential };

/** What nodes log in with, by name and kind: nothing tells what is in them. */
export function Credentials({ owner }: { owner: CredentialOwner }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const queryKey = ["credentials", owner];
  const credentials = useQuery({ queryKey, queryFn: () => Array.fromAsync(nova.credentials.list(owner)) });
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const readAgain = () => queries.invalidateQueries({ queryKey });
  const remove = async ({ name }: Credential) => {
    await nova.credentials.remove(owner, name);
    await readAgain();
  };
  return (
    <Card
      title={words.title}
      hint={words.hint}
      end={
        <Button icon="plus" onClick={() => setAsked({ form: undefined })}>
          {words.create}
        </Button>
      }
    >
      <Read query={credentials} lines={3}>
        {(known) =>
          known.length === 0 ? (
            <Empty icon="lock" title={words.empty} hint={words.emptyHint} />
          ) : (
            <CredentialTable credentials={known} ask={setAsked} />
          )
        }
      </Read>
      {asked && "form" in asked && (
        <CredentialForm owner={owner} replaced={asked.form} onStored={readAgain} onClose={close} />
      )}
      {asked && "remove" in asked && (
        <Confirm
          title={words.confirmRemove(asked.remove.name)}
          does={words.remove}
          act={() => remove(asked.remove)}
          onClose={close}
        >
          <p className="quiet">{words.confirmRemoveHint}</p>
        </Confirm>
      )}
    </Card>
  );
}

interface CredentialTableProps {
  credentials: readonly Credential[];
  ask(asked: Asked): void;
}

function CredentialTable({ credentials, ask }: CredentialTableProps): JSX.Element {
  const { columns } = words;
  return (
    <Table
      items={credentials}
      keyOf={({ name }) => name}
      columns={[
        { label: columns.name, show: ({ name }) => name, look: "mono" },
        { label: columns.kind, show: ({ kind }) => words.kinds[kind], look: "quiet" },
        { label: columns.changed, show: ({ changed_at }) => <Time at={changed_at} />, look: "wide fixed quiet" },
        {
          label: columns.actions,
          show: (one) => (
            <>
              <IconButton icon="restart" label={words.replace(one.name)} onClick={() => ask({ form: one })} />
              <IconButton icon="bin" label={words.removeOne(one.name)} onClick={() => ask({ remove: one })} />
            </>
          ),
          look: "sheet-end",
        },
      ]}
    />
  );
}
