import type { Delivery } from "@nova/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { Link } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { useAddress } from "../../../parts/address.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { Empty, Loading } from "../../../parts/states.tsx";
import { Time } from "../../../parts/time.tsx";
import { PageFailure } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";

const words = texts.workflows.triggers;
const pageSize = 50;
const pauseMs = 8_000;

type Status = Delivery["status"];

const tones: Record<Status, string> = { started: "ok", accepted: "run", refused: "wait", failed: "bad" };
const statuses = Object.keys(tones) as Status[];

/** What came in, with the run that it started or why it started none. */
export function Deliveries({ workflow }: { workflow: string }): JSX.Element {
  const [given, change] = useAddress(["status"]);
  const status = statuses.find((one) => one === given.status);
  const deliveries = useDeliveries(workflow, status);
  const items = deliveries.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="card" aria-label={words.deliveries}>
      <header className="card-head">
        <h2>{words.deliveries}</h2>
        <span className="card-head-end">
          <Choice
            label={words.status}
            value={status}
            values={Object.entries(words.statuses)}
            onChange={(to) => change({ status: to })}
          />
        </span>
      </header>
      {deliveries.isPending ? (
        <Loading lines={4} />
      ) : deliveries.error ? (
        <PageFailure error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      ) : items.length === 0 ? (
        <Empty
          icon="download"
          title={status === undefined ? words.noDeliveries : words.noneFit}
          hint={status === undefined ? words.noDeliveriesHint : words.noneFitHint}
        />
      ) : (
        <DeliveryTable items={items} />
      )}
      {deliveries.hasNextPage && (
        <div className="card-body">
          <Button disabled={deliveries.isFetchingNextPage} onClick={() => void deliveries.fetchNextPage()}>
            {words.more}
          </Button>
        </div>
      )}
    </section>
  );
}

function useDeliveries(workflow: string, status: Status | undefined) {
  const nova = useNova();
  return useInfiniteQuery({
    queryKey: ["deliveries", workflow, status ?? null],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        ...{ workflow, limit: pageSize },
        ...(status !== undefined && { status }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return nova.ask(nova.api.GET("/deliveries", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: pauseMs,
  });
}

function DeliveryTable({ items }: { items: readonly Delivery[] }): JSX.Element {
  const { columns } = words;
  return (
    <div className="sheet-box">
      <table className="sheet deliveries">
        <thead>
          <tr>
            <th scope="col">{columns.at}</th>
            <th scope="col">{columns.status}</th>
            <th scope="col" className="wide">
              {columns.trigger}
            </th>
            <th scope="col" className="wide">
              {columns.from}
            </th>
            <th scope="col">{columns.result}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <DeliveryRow key={item.id} item={item} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DeliveryRow({ item }: { item: Delivery }): JSX.Element {
  const { at, status, trigger, type, from, about, execution_id, reason } = item;
  return (
    <tr>
      <td className="fixed quiet">
        <Time at={at} />
      </td>
      <td className="fixed">
        <span className={`badge workflow-badge tone-${tones[status]}`}>{words.statuses[status]}</span>
      </td>
      <td className="wide">{trigger ?? words.kinds[type]}</td>
      <td className="wide">
        <span className="delivery-from">
          <Foreign text={from} />
        </span>
        <span className="delivery-about quiet">
          <Foreign text={about} />
        </span>
      </td>
      <td>
        {execution_id !== null && <Link href={`/runs/${execution_id}`}>{words.run}</Link>}
        {reason !== null && (
          <span className="delivery-reason">
            <Foreign text={reason} />
          </span>
        )}
      </td>
    </tr>
  );
}
