/**
 * An entity that is made at its first use: ElectroDB takes a millisecond to look over the model of each, and a process
 * that runs nodes comes to a few of them.
 */
export function whenAsked<Entity extends object>(make: () => Entity): Entity {
  let made: Entity | undefined;
  return new Proxy({} as Entity, {
    get(_, name) {
      made ??= make();
      const value: unknown = Reflect.get(made, name);
      return typeof value === "function" ? value.bind(made) : value;
    },
  });
}
