/** `true` when two types are the same, not only assignable. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Accepts only `true`. */
export type Expect<T extends true> = T;
