/**
 * Which values of an event name the tasks that it may wake: those of one source or of any (null), and the way to one value
 * in it. Without a way every event of the source is meant.
 */
export type WakeShape = readonly [source: string | null, ...way: string[]];

/** Where a task is found: under each key that its shape makes of the values that its pattern lists. */
export interface Wake {
  shape: WakeShape;
  keys: string[];
}

export interface UsedShape {
  shape: WakeShape;
  /** Events that it makes keys of are kept, since a wait that begins later may look for them. */
  keepsEvents: boolean;
}

/** An event that came before anybody waited for it. */
export interface KeptEvent {
  id: string;
  /** ISO 8601: when it came. */
  at: string;
  /** JSON text, in EventBridge's shape, the detail whole. */
  text: string;
}

/**
 * Tasks by what wakes them, and recent events (DynamoDB, large ones in S3). Reads are strongly consistent: an event that is
 * kept before tasks are looked for, and a task that is written before events are, cannot miss one another.
 */
export interface WakeStore {
  /** `isWhole`: false until every task of earlier releases has its place here. */
  shapes(): Promise<{ shapes: UsedShape[]; isWhole: boolean }>;
  markWhole(): Promise<void>;
  /** In use until then, ISO 8601, and maybe a month longer; written where that is not known yet. */
  use(shape: UsedShape, until: string): Promise<void>;
  /** Tasks under a key. Some may have gone on. */
  tasksAt(key: string): Promise<{ execution: string; id: string }[]>;
  /** For a week. */
  keepEvent(key: string, event: KeptEvent): Promise<void>;
  /** Those under a key that came then or later, oldest first. */
  eventsAt(key: string, from: string): AsyncIterable<KeptEvent>;
}
