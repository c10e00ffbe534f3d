/** A word of shared memory that becomes 1, with a notification, when the program may continue: for threads that only block. */
export interface Release {
  readonly words: Int32Array;
  readonly index: number;
}

export function letGo(release: Release | undefined): void {
  if (release === undefined) return;
  Atomics.store(release.words, release.index, 1);
  Atomics.notify(release.words, release.index);
}
