/** Where all ways from a place meet first: a node, or null where that is only behind the last one. */
export interface Meetings {
  /** The first node that every way from `id` comes to, `id` itself not counted. */
  behind(id: string): string | null;
  /** The first node that the ways from all of these come to, these themselves counted. */
  of(ids: readonly string[]): string | null;
}
