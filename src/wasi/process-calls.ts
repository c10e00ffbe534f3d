/** Arguments, environment, clocks, waiting, exit: the calls of WASI that concern no file. */
import { SUSPENDED } from "../core/base/capture-points.ts";
import { Errno, WasiError } from "./errno.ts";
import { type ProgramBytes, textBytes } from "./memory.ts";
import { type Library, type Pause, WasiClock } from "./ports.ts";

/** Words of a subscription of `poll_oneoff`, and of its event. */
const subscriptionBytes = 48;
const eventBytes = 32;
const EventKind = { CLOCK: 0, READ: 1, WRITE: 2 } as const;
const ABSOLUTE = 1;

export function processCalls(library: Library, memory: ProgramBytes, pause: Pause) {
  function time(clock: number): bigint {
    if (clock === WasiClock.REAL) return library.realTime();
    if (clock >>> 0 <= WasiClock.THREAD) return library.steadyTime();
    throw new WasiError(Errno.INVAL);
  }

  /** Sleeps that long, or for the rest of a sleep begun in an earlier call. */
  function isOver(waitNs: bigint): boolean {
    if (pause.untilNs === 0n && waitNs > 0n) pause.untilNs = library.steadyTime() + waitNs;
    if (pause.untilNs !== 0n && !library.sleep(pause.untilNs)) return false;
    pause.untilNs = 0n;
    return true;
  }

  return {
    args_sizes_get(count: number, bytes: number): void {
      memory.putU32(count, library.args.length);
      memory.putU32(bytes, textBytes(library.args));
    },
    args_get: (list: number, at: number): void => memory.putTexts(library.args, list, at),
    environ_sizes_get(count: number, bytes: number): void {
      memory.putU32(count, library.environment.length);
      memory.putU32(bytes, textBytes(library.environment));
    },
    environ_get: (list: number, at: number): void => memory.putTexts(library.environment, list, at),
    clock_res_get(clock: number, out: number): void {
      time(clock);
      memory.putU64(out, 1n);
    },
    clock_time_get: (clock: number, _precision: bigint, out: number): void => memory.putU64(out, time(clock)),
    random_get(at: number, length: number): void {
      const bytes = new Uint8Array(length);
      library.random(bytes);
      memory.put(at, bytes);
    },
    sched_yield: (): void => library.yield(),
    proc_exit: (code: number): never => library.exit(code),
    proc_raise(): void {
      throw new WasiError(Errno.NOSYS);
    },

    /**
     * Sleeps until the first clock; files and streams are always ready. A process that stops meanwhile makes the call again.
     */
    poll_oneoff(subscriptions: number, events: number, count: number, out: number): number {
      let ready = 0;
      let first: { readonly at: number; readonly wait: bigint } | undefined;
      const put = (subscription: number): void => {
        const event = events + eventBytes * ready++;
        memory.bytes.copyWithin(event, subscription, subscription + 8);
        memory.putU16(event + 8, Errno.SUCCESS);
        memory.bytes[event + 10] = memory.bytes[subscription + 8]!;
        memory.putU64(event + 16, 1n);
        memory.putU16(event + 24, 0);
      };
      for (let i = 0; i < count; i++) {
        const at = subscriptions + subscriptionBytes * i;
        if (memory.bytes[at + 8] !== EventKind.CLOCK) {
          put(at);
          continue;
        }
        const timeout = memory.view.getBigUint64(at + 24, true);
        const isAbsolute = (memory.view.getUint16(at + 40, true) & ABSOLUTE) !== 0;
        const wait = isAbsolute ? timeout - time(memory.u32(at + 16)) : timeout;
        if (first === undefined || wait < first.wait) first = { at, wait };
      }
      if (ready === 0 && first !== undefined) {
        if (!isOver(first.wait)) return SUSPENDED;
        put(first.at);
      }
      memory.putU32(out, ready);
      return Errno.SUCCESS;
    },
    sock_accept(): void {
      throw new WasiError(Errno.NOTSUP);
    },
    sock_recv(): void {
      throw new WasiError(Errno.NOTSUP);
    },
    sock_send(): void {
      throw new WasiError(Errno.NOTSUP);
    },
    sock_shutdown(): void {
      throw new WasiError(Errno.NOTSUP);
    },
  };
}
