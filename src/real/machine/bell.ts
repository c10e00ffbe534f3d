/**
 * A bell: a word of shared memory that threads ring to wake another one, which answers from its event loop. However often a bell
 * is rung before the answer, it is answered once.
 */

/** How long after the quiet bell the node does not hear it. */
const quietMs = 1;

/** A rank: there is something to read. Costs a wake-up only when the node sleeps. */
export function ring(bellView: Int32Array): void {
  if (Atomics.exchange(bellView, 0, 1) === 0) Atomics.notify(bellView, 0);
}

/**
 * The node: calls `work` whenever the bell has rung. `Atomics.waitAsync` does not keep the process alive; its channel to
 * the dispatcher does.
 */
export async function onBell(bellView: Int32Array, work: () => void): Promise<never> {
  for (;;) {
    const waiting = Atomics.waitAsync(bellView, 0, 0);
    if (waiting.async) await waiting.value;
    // Cleared before the work: what comes during it rings again.
    Atomics.store(bellView, 0, 0);
    work();
    await nextTurn();
  }
}

/** The node: as `onBell`, and deaf for `quietMs` after each ring. */
export async function onQuietBell(bellView: Int32Array, work: () => void): Promise<never> {
  for (;;) {
    const waiting = Atomics.waitAsync(bellView, 0, 0);
    if (waiting.async) await waiting.value;
    await new Promise<void>((resolve) => setTimeout(resolve, quietMs));
    Atomics.store(bellView, 0, 0);
    work();
  }
}

/** A rank that prints without end must not keep the node's event loop from everything else. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
