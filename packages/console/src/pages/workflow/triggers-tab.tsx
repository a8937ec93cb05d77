import type { Delivery, Schemas } from "@nova/client";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { readApiUrl } from "../../api/session.ts";
import { readString } from "../../json/raw.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, CopyButton } from "../../parts/button.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Empty, ErrorNote, Loading, PageFailure } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { parseTriggers, type Trigger } from "./definition-parts.ts";
import { useWorkflow, type WholeWorkflow } from "./use-workflow.tsx";
import "../../parts/sheet.css";
import "./tabs.css";

const words = texts.workflows.triggers;

/** The triggers of the workflow and their deliveries. */
export function TriggersTab({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const { id, active_version: active, version } = workflow;
  const shown = useWorkflow(id, active ?? version);
  const schedules = useSchedules(id);
  const triggers = shown.data && parseTriggers(shown.data);
  if (!triggers) return shown.error ? <PageFailure error={shown.error} onRetry={shown.refetch} /> : <Loading />;
  return (
    <div className="page-body">
      <div className="page-column">
        <section aria-label={words.title}>
          {triggers.length === 0 ? (
            <div className="card">
              <Empty icon="play" title={words.empty} hint={words.emptyHint} />
            </div>
          ) : (
            <ul className="triggers">
              {triggers.map((trigger) => (
                <TriggerCard
                  key={trigger.id}
                  workflow={id}
                  trigger={trigger}
                  schedule={schedules.data?.find((one) => one.trigger === trigger.id)}
                />
              ))}
            </ul>
          )}
        </section>
        <Deliveries workflow={id} />
      </div>
    </div>
  );
}

type Schedule = Schemas["Schedule"];

const icons: Record<string, IconName> = {
  mail: "mail",
  imap: "mail",
  webhook: "link",
  schedule: "clock",
  event: "spark",
};

interface TriggerCardProps {
  workflow: string;
  trigger: Trigger;
  schedule: Schedule | undefined;
}

/** One trigger: its address or schedule, and its other settings. */
export function TriggerCard({ workflow, trigger, schedule }: TriggerCardProps): JSX.Element {
  const { id, type, fields } = trigger;
  const kind = type in words.kinds ? words.kinds[type as keyof typeof words.kinds] : type;
  const shown = new Set(type === "schedule" ? ["when", "timezone"] : type === "mail" ? ["address"] : []);
  const rest = Array.from(fields).filter(([name]) => !shown.has(name));
  return (
    <li className="card trigger">
      <header className="trigger-head">
        <span className="trigger-icon">
          <Icon name={icons[type] ?? "play"} />
        </span>
        <h2>{kind}</h2>
        <span className="mono quiet">
          <UntrustedText text={id} />
        </span>
        {schedule && (
          <span className="page-head-end">
            <ScheduleSwitch workflow={workflow} schedule={schedule} />
          </span>
        )}
      </header>
      <Place trigger={trigger} />
      {schedule && <Times schedule={schedule} />}
      {rest.map(([name, text]) => (
        <JsonView key={name} name={name} text={text} open={0} />
      ))}
    </li>
  );
}

/** The address of a mail or webhook trigger. */
function Place({ trigger: { id, type, fields } }: { trigger: Trigger }): JSX.Element | null {
  if (type === "mail") {
    return (
      <p className="mono trigger-place">
        <UntrustedText text={words.mailTo(readString(fields.get("address")) ?? "")} />
      </p>
    );
  }
  if (type !== "webhook") return null;
  const address = `${readApiUrl().replace(/\/$/, "")}/hooks/${encodeURIComponent(id)}`;
  return (
    <p className="mono trigger-place">
      POST {address}
      <CopyButton text={address} />
    </p>
  );
}

function Times({ schedule: { expression, timezone, next_at, paused_at } }: { schedule: Schedule }): JSX.Element {
  return (
    <p className="trigger-place">
      <span className="mono">{expression}</span>
      <span className="quiet">{timezone}</span>
      {paused_at !== null ? (
        <span className="tone-wait trigger-paused">
          {words.pausedSince} <Time at={paused_at} />
        </span>
      ) : (
        <span>
          {next_at === null ? (
            words.never
          ) : (
            <>
              {words.next} <Time at={next_at} />
            </>
          )}
        </span>
      )}
    </p>
  );
}

function ScheduleSwitch({ workflow, schedule }: { workflow: string; schedule: Schedule }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const isPaused = schedule.paused_at !== null;
  const turn = async () => {
    const params = { path: { id: workflow, trigger: schedule.trigger } };
    setError(undefined);
    try {
      await nova.ask(
        isPaused
          ? nova.api.POST("/workflows/{id}/schedules/{trigger}/resume", { params })
          : nova.api.POST("/workflows/{id}/schedules/{trigger}/pause", { params }),
      );
      await queries.invalidateQueries({ queryKey: ["schedules", workflow] });
    } catch (refused) {
      setError(refused);
    }
  };
  const label = isPaused ? words.resumeSchedule(schedule.trigger) : words.pauseSchedule(schedule.trigger);
  return (
    <>
      <ErrorNote error={error} />
      <Button icon={isPaused ? "play" : "pause"} aria-label={label} onClick={turn}>
        {isPaused ? texts.workflows.resume : texts.workflows.pause}
      </Button>
    </>
  );
}

const pageSize = 50;
const pauseMs = 8_000;

type Status = Delivery["status"];

const tones: Record<Status, string> = { started: "ok", accepted: "run", refused: "wait", failed: "bad" };
const statuses = Object.keys(tones) as Status[];

/** All deliveries, with the run that each started or the reason why it started none. */
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
          <FilterSelect
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
        workflow,
        limit: pageSize,
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
          <UntrustedText text={from} />
        </span>
        <span className="delivery-about quiet">
          <UntrustedText text={about} />
        </span>
      </td>
      <td>
        {execution_id !== null && <Link href={`/runs/${execution_id}`}>{words.run}</Link>}
        {reason !== null && (
          <span className="delivery-reason">
            <UntrustedText text={reason} />
          </span>
        )}
      </td>
    </tr>
  );
}

const schedulesPauseMs = 15_000;

export function useSchedules(workflow: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["schedules", workflow],
    refetchInterval: schedulesPauseMs,
    queryFn: () => Array.fromAsync(nova.list("/schedules", { query: { workflow } })),
  });
}
