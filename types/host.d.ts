// Types of the host's own globals. The package compiles with `lib: ["ES2022"]` alone: where the host's declarations
// (DOM or @types/node) exist they are used, otherwise a structural stand-in.

/** The part of an `AbortSignal` that the runtime uses. Every real `AbortSignal` fits. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The host's `AbortSignal` where it is declared, for handing on to other APIs. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T extends AbortSignalLike } }
  ? T
  : AbortSignalLike;

/** The part of a `ReadableStream` that is declared without the host's types. */
export interface ReadableStreamLike<T> {
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  getReader(): {
    read(): Promise<{ done: false; value: T } | { done: true; value?: T | undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
  [Symbol.asyncIterator](): AsyncIterableIterator<T>;
}

/** A web stream of `T`: the host's `ReadableStream` where it is declared. */
export type HostReadableStream<T> = typeof globalThis extends { ReadableStream: { prototype: infer S } }
  ? ReadableStreamLike<T> & S
  : ReadableStreamLike<T>;

/** `[Symbol.asyncDispose]` where the host declares it, so that `await using` works; nothing elsewhere. */
export type AsyncDisposeMember = typeof Symbol extends { readonly asyncDispose: infer S extends symbol }
  ? { [K in S]: () => Promise<void> }
  : {};

/** An environment: names to values. A value of `undefined` counts as absent. */
export type EnvironmentLike = Record<string, string | undefined>;

export {};
