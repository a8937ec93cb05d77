import type { CredentialOwner, Schemas } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { Button, IconButton } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/confirm.tsx";
import { Empty, Loading } from "../../../parts/states.tsx";
import { Time } from "../../../parts/time.tsx";
import { PageFailure } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";
import { CredentialForm } from "./credential-form.tsx";
import "../../../parts/sheet.css";

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
    <section className="card" aria-labelledby="credentials">
      <header className="card-head">
        <h2 id="credentials">{words.title}</h2>
        <span className="quiet">{words.hint}</span>
        <span className="card-head-end">
          <Button icon="plus" onClick={() => setAsked({ form: undefined })}>
            {words.create}
          </Button>
        </span>
      </header>
      {credentials.isPending ? (
        <Loading lines={3} />
      ) : credentials.error ? (
        <PageFailure error={credentials.error} onRetry={() => void credentials.refetch()} />
      ) : credentials.data.length === 0 ? (
        <Empty icon="lock" title={words.empty} hint={words.emptyHint} />
      ) : (
        <CredentialTable credentials={credentials.data} ask={setAsked} />
      )}
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
    </section>
  );
}

interface CredentialTableProps {
  credentials: readonly Credential[];
  ask(asked: Asked): void;
}

function CredentialTable({ credentials, ask }: CredentialTableProps): JSX.Element {
  const { columns } = words;
  return (
    <div className="sheet-box">
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{columns.name}</th>
            <th scope="col">{columns.kind}</th>
            <th scope="col" className="wide">
              {columns.changed}
            </th>
            <th scope="col">
              <span className="hidden-label">{columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {credentials.map((credential) => (
            <tr key={credential.name}>
              <td className="mono">{credential.name}</td>
              <td className="quiet">{words.kinds[credential.kind]}</td>
              <td className="wide fixed quiet">
                <Time at={credential.changed_at} />
              </td>
              <td className="sheet-end">
                <IconButton
                  icon="restart"
                  label={words.replace(credential.name)}
                  onClick={() => ask({ form: credential })}
                />
                <IconButton
                  icon="bin"
                  label={words.removeOne(credential.name)}
                  onClick={() => ask({ remove: credential })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
