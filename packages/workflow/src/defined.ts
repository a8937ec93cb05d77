type Sure<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };
type Maybe<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The same object without the fields that are undefined: what is absent stays absent in what is stored and answered. */
export function defined<T extends object>(fields: T): { [K in keyof (Sure<T> & Maybe<T>)]: (Sure<T> & Maybe<T>)[K] } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
