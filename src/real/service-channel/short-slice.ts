/**
 * Asks the scheduler for short slices for this thread, so that it runs as soon as it is woken although every core has a rank that
 * spins: Linux from 6.12 on lets a woken thread with a shorter slice go before the one that runs; otherwise that one would first
 * use up its own, some milliseconds. Costs the others nothing over time. Elsewhere nothing happens.
 */
import { openLibrary } from "../machine/library-functions.ts";

const sliceNs = 100_000n;
/** By architecture. */
const schedSetattr: Readonly<Record<string, number>> = { x64: 314, arm64: 274 };
const attributeBytes = 48;

export function askForShortSlices(): void {
  const call = schedSetattr[process.arch];
  if (call === undefined) return;
  openLibrary((library) => {
    const syscall = library.func("int64_t syscall(int64_t, int64_t, void *, int64_t)");
    // struct sched_attr: size, policy (0: as everybody), flags, nice, priority, slice, deadline, period.
    const attributes = Buffer.alloc(attributeBytes);
    attributes.writeUInt32LE(attributeBytes, 0);
    attributes.writeBigUInt64LE(sliceNs, 24);
    syscall(call, 0, attributes, 0);
  });
}
