/**
 * Work of a thread that must not be cut off. A native library that defines its functions aborts the whole process when its thread is
 * terminated meanwhile, and with a node all its ranks would end. So a thread and the thread that may terminate it share two
 * words: the first says that such work is under way, the second that the thread is about to be terminated. Each side writes its
 * own word before it reads the other's: either the terminating side sees the work and waits for its end, or the thread sees that it
 * is about to end and does not begin.
 */
const WORKING = 0;
const ENDING = 1;
const wordCount = 2;

export const newUndisturbed = (): SharedArrayBuffer => new SharedArrayBuffer(4 * wordCount);

/** Of this thread; null: it is never terminated. */
let ofThisThread: Int32Array | null = null;

/** For a thread that begins: the words that it shares with the thread that may terminate it. */
export function shareUndisturbed(words: SharedArrayBuffer): void {
  ofThisThread = new Int32Array(words);
}

/** Does the work, unless the thread is about to be terminated: then this never returns. */
export function undisturbed<T>(work: () => T): T {
  const words = ofThisThread;
  if (words === null) return work();
  Atomics.store(words, WORKING, 1);
  try {
    if (Atomics.load(words, ENDING) !== 0) waitForTheEnd(words);
    return work();
  } finally {
    stopWorking(words);
  }
}

function stopWorking(words: Int32Array): void {
  Atomics.store(words, WORKING, 0);
  Atomics.notify(words, WORKING);
}

function waitForTheEnd(words: Int32Array): never {
  stopWorking(words);
  for (;;) Atomics.wait(words, ENDING, 1);
}

/** For the terminating side: fulfilled when the thread can be terminated, and stays so. */
export async function whenUndisturbing(shared: SharedArrayBuffer): Promise<void> {
  const words = new Int32Array(shared);
  Atomics.store(words, ENDING, 1);
  while (Atomics.load(words, WORKING) !== 0) {
    const waiting = Atomics.waitAsync(words, WORKING, 1);
    if (waiting.async) await waiting.value;
  }
}
