import type { Key } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Read } from "../../parts/read.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { NewKey } from "./new-key.tsx";

const words = texts.apiKeys;

/** Who may come in with a key. */
export function KeysPage(): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => Array.fromAsync(nova.keys.list()) });
  const [asked, setAsked] = useState<"new" | Key>();
  const close = () => setAsked(undefined);
  const readAgain = () => queries.invalidateQueries({ queryKey: ["keys"] });
  const remove = async ({ id }: Key) => {
    await nova.keys.delete(id);
    await readAgain();
  };
  return (
    <>
      <PageHead
        title={words.title}
        end={
          keys.data && (
            <Button icon="plus" tone="main" onClick={() => setAsked("new")}>
              {words.create}
            </Button>
          )
        }
      />
      <div className="page-body">
        <Read query={keys}>
          {(known) =>
            known.length === 0 ? (
              <Empty icon="key" title={words.empty} hint={words.emptyHint} />
            ) : (
              <KeyTable keys={known} onDelete={setAsked} />
            )
          }
        </Read>
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
  const { columns } = words;
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const makerOf = ({ created_by: by }: Key) => (by === null ? words.setUp : (names.get(by) ?? by));
  return (
    <div className="card">
      <Table
        items={keys}
        keyOf={({ id }) => id}
        columns={[
          {
            label: columns.name,
            show: ({ id, name }) => (
              <span title={id}>
                <Foreign text={name || id} />
              </span>
            ),
          },
          { label: columns.role, show: ({ role }) => words.roles[role] },
          { label: columns.client, show: ({ client_slug }) => client_slug ?? texts.common.everyone, look: "quiet" },
          { label: columns.created, show: ({ created_at }) => <Time at={created_at} />, look: "wide fixed quiet" },
          { label: columns.by, show: (key) => <Foreign text={makerOf(key)} />, look: "wide quiet" },
          {
            label: columns.actions,
            show: (key) => (
              <IconButton icon="bin" label={words.deleteOne(key.name || key.id)} onClick={() => onDelete(key)} />
            ),
            look: "sheet-end",
          },
        ]}
      />
    </div>
  );
}
