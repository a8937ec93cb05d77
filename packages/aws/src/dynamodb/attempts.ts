// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates

import type { Attempt, AttemptStore } from "@nova/service";
import { Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

/** Before every other time. */
const longAgo = new Date(0).toISOString();

/** Requests that may be repeated, for a day. DynamoDB deletes late what has expired, so reading looks at the time too. */
export function createAttemptStore(connection: TableConnection): AttemptStore {
  const entity = whenAsked(() => attemptEntity(connection));
  return {
    async begin(attempt, now) {
      const put = entity
        .put(attempt)
        .where(({ expiresAt }, { lt, notExists }) => `${notExists(expiresAt)} OR ${lt(expiresAt, now / 1000)}`);
      if (await reachingIf(store, () => put.go(plainly))) return undefined;
      const { data } = await reaching(store, () => entity.get(attempt).go(consistently));
      // The SDK repeats a put that was lost on its way back: then the attempt that stands in the way is this one.
      return data && data.id !== attempt.id ? attemptOf(data) : undefined;
    },
    takeOver: (name, since, now) =>
      reachingIf(store, () =>
        entity
          .patch(name)
          .set({ since: now })
          .where((attempt, { eq, notExists }) => `${eq(attempt.since, since)} AND ${notExists(attempt.made)}`)
          .go(plainly),
      ),
    async finish(name, made) {
      await reachingIf(store, () => entity.patch(name).set({ made }).go(plainly));
    },
    async release(name) {
      await reachingIf(store, () => entity.patch(name).set({ since: longAgo }).go(plainly));
    },
  };
}

function attemptOf({ format, ...attempt }: AttemptItem): Attempt {
  checkFormat(`attempt ${attempt.id}`, format);
  return { ...attempt, format: FORMAT };
}

function attemptEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "attempt", version: "1" },
      attributes: {
        principal: requiredText,
        client: text,
        key: requiredText,
        format: requiredNumber,
        fingerprint: requiredText,
        id: requiredText,
        since: requiredText,
        made: text,
        /** The table's time to live, seconds since the epoch. */
        expiresAt: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["principal", "key"], template: "I#${principal}#${key}", casing: "none" },
          sk: { field: "sk", composite: [], template: "I", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

type AttemptItem = EntityItem<ReturnType<typeof attemptEntity>>;
