/** Where reductions of floating-point numbers put their results, and which of those are not numbers. */
import { buffersAt, type Step } from "./random-calls.ts";

/** By handle: MPI_FLOAT, MPI_DOUBLE. */
const floatBytes = new Map([
  [0x210, 4],
  [0x214, 8],
]);

interface FloatPlace {
  readonly from: number;
  readonly bytes: number;
}

/** Where a reduction of floating-point numbers has put them. */
export function* resultsAt({ name, args }: Step): Generator<FloatPlace> {
  const [, into, count, type] = args;
  const bytes = name.includes("educe") ? floatBytes.get(type as number) : undefined;
  if (bytes === undefined || typeof into !== "number" || into < buffersAt) return;
  for (let i = 0; i < (count as number); i++) yield { from: into + i * bytes, bytes };
}

export function isNaNAt(memory: Uint8Array, { from, bytes }: FloatPlace): boolean {
  const view = new DataView(memory.buffer, memory.byteOffset + from, bytes);
  return Number.isNaN(bytes === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true));
}
