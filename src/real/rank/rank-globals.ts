/**
 * Clocks and randomness of a TypeScript program under a protocol that replays. Every reading of `Date`, `performance` or
 * `process.hrtime` is a choice (core/ft/choices.ts); `Math.random` and the random functions of `crypto` come from a seed that
 * is the same in every life. What makes keys does not, nor does any other asynchronous input: files, timers, the network.
 *
 * Our own code in the thread uses process/steady-clock.ts.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import type { Choices } from "../../core/ft/choices.ts";
import { chosenTime } from "../../core/ft/clock-choice.ts";
import { steadyMs } from "../machine/steady-clock.ts";

/** The globals that were replaced, newest first. */
type Undo = (() => void)[];

/** Gives a function that puts everything back. */
export function replaceGlobals(choices: Choices, random: SeededRandom, steady = new SteadyClock()): () => void {
  const undo: Undo = [];
  replaceClocks(choices, steady, undo);
  replaceRandomness(random, undo);
  syncBuiltinESMExports();
  return () => {
    for (const step of undo.splice(0)) step();
    syncBuiltinESMExports();
  };
}

/** Where several processes play a rank: randomness is the same in all of them, clocks are each one's own. */
export function replaceRandom(random: SeededRandom): void {
  replaceRandomness(random, []);
  syncBuiltinESMExports();
}

/** An own property, whatever it was before. */
function define(undo: Undo, target: object, name: string, property: PropertyDescriptor): void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { configurable: true, enumerable: before?.enumerable ?? true, ...property });
  undo.unshift(() => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  });
}

const put = (undo: Undo, target: object, name: string, value: unknown): void =>
  define(undo, target, name, { value, writable: true });

// Clocks

function replaceClocks(choices: Choices, steady: SteadyClock, undo: Undo): void {
  const SystemDate = Date;
  const systemNow = Date.now;
  // The day is the same wherever the program goes on.
  const wall = { now: systemNow, moveClockTo() {} };
  const now = (): number => chosenTime(choices, wall);
  const RankDate: DateConstructor = new Proxy(SystemDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new SystemDate(now()).toString(),
  });
  put(undo, SystemDate, "now", now);
  put(undo, SystemDate.prototype, "constructor", RankDate);
  put(undo, globalThis, "Date", RankDate);

  const nowMs = (): number => chosenTime(choices, steady);
  put(undo, performance, "now", nowMs);
  const systemOrigin = performance.timeOrigin;
  let origin = -1;
  define(undo, performance, "timeOrigin", {
    get(): number {
      if (origin < 0) origin = chosenTime(choices, { now: () => systemOrigin, moveClockTo() {} });
      return origin;
    },
  });
  put(undo, process, "hrtime", Object.assign(hrtime(nowMs), { bigint: () => nanoseconds(nowMs()) }));
}

/** Milliseconds; goes on with the time of an earlier life. */
export class SteadyClock {
  #aheadMs = 0;

  now(): number {
    return steadyMs() + this.#aheadMs;
  }

  moveClockTo(ms: number): void {
    this.#aheadMs += Math.max(0, ms - this.now());
  }
}

const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms * 1e6));

const hrtime =
  (nowMs: () => number) =>
  (since: readonly [number, number] = [0, 0]): [number, number] => {
    const passed = nanoseconds(nowMs()) - BigInt(since[0]) * 1_000_000_000n - BigInt(since[1]);
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
  };

// Randomness

type Bytes = ArrayBufferView | ArrayBufferLike;
type Done<T> = (error: null, value: T) => void;

const bytesOf = (target: Bytes): Uint8Array =>
  ArrayBuffer.isView(target)
    ? new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
    : new Uint8Array(target);

function replaceRandomness(random: SeededRandom, undo: Undo): void {
  put(undo, Math, "random", () => random.fraction());
  // Loaded here: a rank that needs none of this does not pay for it.
  const crypto = createRequire(process.execPath)("node:crypto") as typeof import("node:crypto");
  const generators = randomFunctions(random);
  for (const name of ["randomBytes", "randomFillSync", "randomFill", "randomInt", "randomUUID"] as const) {
    put(undo, crypto, name, generators[name]);
  }
  // `crypto.getRandomValues` of the module is that of the global object.
  put(undo, crypto.webcrypto, "getRandomValues", generators.getRandomValues);
  put(undo, crypto.webcrypto, "randomUUID", generators.randomUUID);
}

/** As in `node:crypto`, callbacks included; mistakes in the arguments are not looked for. */
function randomFunctions(random: SeededRandom) {
  function filled<T extends Bytes>(target: T, offset = 0, size?: number): T {
    const bytes = bytesOf(target);
    const isView = ArrayBuffer.isView(target) && "BYTES_PER_ELEMENT" in target;
    // Counted in elements, as Node does.
    const unit = isView ? (target.BYTES_PER_ELEMENT as number) : 1;
    random.fill(bytes.subarray(offset * unit, size === undefined ? bytes.length : (offset + size) * unit));
    return target;
  }

  /** Later, when there is somebody to be told; at once otherwise. */
  function given<T>(value: T, done: Done<T> | undefined): T | undefined {
    if (done === undefined) return value;
    process.nextTick(done, null, value);
    return undefined;
  }

  return {
    randomBytes: (size: number, done?: Done<Buffer>) => given(filled(Buffer.alloc(size)), done),
    randomFillSync: <T extends Bytes>(target: T, offset?: number, size?: number): T => filled(target, offset, size),
    randomFill<T extends Bytes>(target: T, ...rest: (number | Done<T> | undefined)[]): void {
      const done = rest.pop() as Done<T>;
      given(filled(target, ...(rest as number[])), done);
    },
    randomInt(first: number, ...rest: (number | Done<number> | undefined)[]): number | undefined {
      const hasLeast = typeof rest[0] === "number";
      const [least, end] = hasLeast ? [first, rest[0] as number] : [0, first];
      const done = rest.find((each) => typeof each === "function");
      return given(least + Math.floor(random.fraction() * (end - least)), done);
    },
    randomUUID(): string {
      const bytes = filled(Buffer.alloc(16));
      bytes[6] = (bytes[6]! & 0x0f) | 0x40;
      bytes[8] = (bytes[8]! & 0x3f) | 0x80;
      const hex = bytes.toString("hex");
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
    },
    getRandomValues: <T extends ArrayBufferView>(array: T): T => filled(array),
  };
}
