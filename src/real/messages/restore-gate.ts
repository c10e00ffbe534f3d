/**
 * Ranks of a node that go on from images wait for each other before the first of them runs. A large message that was announced
 * when the images were taken lies in its sender's memory, and its receiver copies it from there: a receiver that ran before
 * its sender has read its image would copy what a new memory has, zeros.
 *
 * Ranks that fall together share a gate. A rank that cannot read its image never passes; the ranks that share the gate with it are
 * ended with it, or begin again with it.
 */
export type RestoreGate = SharedArrayBuffer;

function createRestoreGate(ranks: number): RestoreGate {
  const gate = new SharedArrayBuffer(4);
  new Int32Array(gate)[0] = ranks;
  return gate;
}

/** A rank has its memory and its state again. */
export function restored(gate: RestoreGate): void {
  const left = new Int32Array(gate);
  if (Atomics.sub(left, 0, 1) === 1) Atomics.notify(left, 0);
}

export function isOpen(gate: RestoreGate): boolean {
  return Atomics.load(new Int32Array(gate), 0) === 0;
}

/** Blocks the thread; bounded waits, so that the thread can be terminated. */
export function waitUntilOpen(gate: RestoreGate): void {
  const words = new Int32Array(gate);
  for (let left = Atomics.load(words, 0); left !== 0; left = Atomics.load(words, 0)) Atomics.wait(words, 0, left, 1000);
}

/** A gate for each group of ranks. Those without a group begin without an image, and have none. */
export function gatesFor<Rank>(
  ranks: readonly Rank[],
  groupOf: (rank: Rank) => number | null,
): (rank: Rank) => RestoreGate | null {
  const sizes = new Map<number, number>();
  for (const group of ranks.map(groupOf)) if (group !== null) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const gates = new Map([...sizes].map(([group, size]) => [group, createRestoreGate(size)]));
  return (rank) => {
    const group = groupOf(rank);
    return group === null ? null : (gates.get(group) ?? null);
  };
}
