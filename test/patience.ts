/**
 * How long tests wait, on whatever machine: limits are in the time of a machine that has nothing else to do ("quiet time").
 * While more threads want to run than there are processors, quiet time passes that many times slower. So a limit says what a
 * thing may take, and not how busy the machine may be; and whatever hangs is still noticed.
 */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

const sampleMs = 50;
/** Limits that cannot follow the load while they run have so much to spare. */
const spareFactor = 5;

/** Threads of the machine that run or want to, now; where it does not tell, of the last minute. */
function threadsWanting(): number {
  try {
    // "28.90 28.21 18.30 31/1024 12345": 31 of 1024.
    return Number(readFileSync("/proc/loadavg", "latin1").split(" ")[3]?.split("/")[0]);
  } catch {
    return loadavg()[0] ?? 0;
  }
}

/** How many times longer things take than on a quiet machine, where so many threads want to run. */
export function slowness(wanting: number, processors = availableParallelism()): number {
  return Math.max(1, wanting / processors);
}

let passedMs = 0;
let sampledMs = performance.now();

function sample(): void {
  const nowMs = performance.now();
  passedMs += (nowMs - sampledMs) / slowness(threadsWanting());
  sampledMs = nowMs;
}

// A test process ends when its tests have, not when this does.
setInterval(sample, sampleMs).unref();

/** A clock of quiet time, in milliseconds. */
export function quietNow(): number {
  sample();
  return passedMs;
}

/** Acts when so much quiet time has passed; the function that is returned takes it back. */
export function afterQuiet(ms: number, act: () => void): () => void {
  const endMs = quietNow() + ms;
  const looking = setInterval(() => {
    if (quietNow() < endMs) return;
    clearInterval(looking);
    act();
  }, sampleMs);
  return () => clearInterval(looking);
}

/** So much quiet time, in the machine's own, while the load is what it is. */
export function loadedMs(ms: number): number {
  const wanting = Math.max(threadsWanting(), loadavg()[0] ?? 0);
  return Math.ceil(ms * slowness(wanting));
}

/** For limits that are fixed when they are set: quiet time in the machine's own, with much to spare. */
export function patientMs(ms: number): number {
  return loadedMs(ms * spareFactor);
}

/** Options of a test that takes so long at most on a quiet machine. */
export function timeLimit(ms: number): { readonly timeout: number } {
  return { timeout: patientMs(ms) };
}
