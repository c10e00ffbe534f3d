/**
 * What the C library of a simulated process is given: the world's clock, randomness from the seed, no standard input. Files
 * are those of a port that the world was given.
 */
import { Ended } from "../../abi/ended.ts";
import type { Suspension } from "../../abi/waiting/suspension.ts";
import { Errno, WasiError } from "../../wasi/errno.ts";
import type { Files, Library } from "../../wasi/ports.ts";
import { Random } from "../random.ts";
import type { PrintedStream } from "./output.ts";

/** The first of January 2000: the same day in every run. */
const firstDayNs = 946_684_800_000_000_000n;

/** A world without files: a program that is given no folder never calls these. */
export const noFiles: Files = new Proxy({} as Files, {
  get: () => () => {
    throw new WasiError(Errno.NOTCAPABLE);
  },
});

/** How many times the program has asked for randomness: plain data, part of an image. */
export interface RandomDraws {
  count: number;
}

interface SimLibraryOptions {
  readonly args: readonly string[];
  readonly environment: readonly string[];
  readonly files: Files;
  /** Of this rank. */
  readonly seed: number;
  readonly draws: RandomDraws;
  readonly suspension: Suspension;
  nowNs(): number;
  /** The process shall look then. */
  wakeAt(timeNs: number): void;
  write(stream: PrintedStream, bytes: Uint8Array): void;
  /** The program reads standard input, of which there is none. */
  inputWanted(): void;
}

export function simLibrary(options: SimLibraryOptions): Library {
  const { args, environment, files, seed, draws, suspension, nowNs, wakeAt, write, inputWanted } = options;
  return {
    run: "simulated",
    args,
    environment,
    files,
    realTime: () => firstDayNs + BigInt(nowNs()),
    steadyShiftNs: 0n,
    steadyTime() {
      return BigInt(nowNs()) + this.steadyShiftNs;
    },
    random(bytes) {
      const random = new Random(Math.imul(seed, 0x9e3779b1) ^ draws.count++);
      for (let i = 0; i < bytes.length; i++) bytes[i] = random.below(256);
    },
    sleep(untilNs) {
      const isOver = () => this.steadyTime() >= untilNs;
      if (isOver()) return true;
      suspension.stop(null, isOver);
      wakeAt(Number(untilNs - this.steadyShiftNs));
      return false;
    },
    yield() {},
    write: (stream, bytes) => write(stream === 1 ? 1 : 2, bytes),
    awaitInput: () => true,
    read() {
      inputWanted();
      return 0;
    },
    exit(code): never {
      throw new Ended({ kind: "exited", code });
    },
  };
}
