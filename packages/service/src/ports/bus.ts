/** Something that happened, for whoever listens on NOVA's bus. */
export interface BusEvent {
  /** Where it comes from, such as `shop.orders`; `nova` is NOVA's own. */
  source: string;
  type: string;
  /** JSON text of an object. */
  detail: string;
}

export interface Bus {
  /** Answers the event's id. A detail may be of any size: what a bus cannot carry travels beside it. */
  put(event: BusEvent): Promise<string>;
  /**
   * What came from the bus (JSON text, in EventBridge's shape) with the whole of its detail; undefined where that is
   * gone.
   */
  whole(event: string): Promise<string | undefined>;
}

/** Versions of workflows that wait to be made state machines; whoever publishes takes one after the other. */
export interface PublishQueue {
  /** The same one may come twice. */
  enqueue(version: { workflow: string; version: number }): Promise<void>;
}
