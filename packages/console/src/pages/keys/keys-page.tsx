import type { Key } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { NewKey } from "./new-key.tsx";
import "../../parts/sheet.css";

/** Who may come in with a key. */
export function KeysPage(): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => Array.fromAsync(nova.keys.list()) });
  const [asked, setAsked] = useState<"new" | Key>();
  const close = () => setAsked(undefined);
  const readAgain = () => queries.invalidateQueries({ queryKey: ["keys"] });
  const words = texts.apiKeys;
  const remove = async ({ id }: Key) => {
    await nova.keys.delete(id);
    await readAgain();
  };
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        <span className="page-head-end">
          {keys.data && (
            <Button icon="plus" tone="main" onClick={() => setAsked("new")}>
              {words.create}
            </Button>
          )}
        </span>
      </header>
      <div className="page-body">
        {keys.isPending ? (
          <Loading />
        ) : keys.error ? (
          <PageFailure error={keys.error} onRetry={() => void keys.refetch()} />
        ) : keys.data.length === 0 ? (
          <Empty icon="key" title={words.empty} hint={words.emptyHint} />
        ) : (
          <KeyTable keys={keys.data} onDelete={setAsked} />
        )}
      </div>
      {asked === "new" && <NewKey onMade={readAgain} onClose={close} />}
      {asked !== undefined && asked !== "new" && (
        <Confirm title={words.confirmDelete(asked.name)} does={words.delete} act={() => remove(asked)} onClose={close}>
          <p className="quiet">{words.confirmDeleteHint}</p>
        </Confirm>
      )}
    </>
  );
}

function KeyTable({ keys, onDelete }: { keys: readonly Key[]; onDelete(key: Key): void }): JSX.Element {
  const words = texts.apiKeys;
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return (
    <div className="card sheet-box">
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{words.columns.name}</th>
            <th scope="col">{words.columns.role}</th>
            <th scope="col">{words.columns.client}</th>
            <th scope="col" className="wide">
              {words.columns.created}
            </th>
            <th scope="col" className="wide">
              {words.columns.by}
            </th>
            <th scope="col">
              <span className="hidden-label">{words.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td title={key.id}>
                <Foreign text={key.name || key.id} />
              </td>
              <td>{words.roles[key.role]}</td>
              <td className="quiet">{key.client_slug ?? texts.common.everyone}</td>
              <td className="wide fixed quiet">
                <Time at={key.created_at} />
              </td>
              <td className="wide quiet">
                <Foreign text={key.created_by === null ? words.setUp : (names.get(key.created_by) ?? key.created_by)} />
              </td>
              <td className="sheet-end">
                <IconButton icon="bin" label={words.deleteOne(key.name || key.id)} onClick={() => onDelete(key)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
