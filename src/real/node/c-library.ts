/** What the C library of a program in a rank's thread is given: clocks, randomness, waiting, its streams. */
import { randomFillSync } from "node:crypto";
import { Ended } from "../../abi/ended.ts";
import type { Suspension } from "../../abi/suspension.ts";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import type { Library } from "../../wasi/ports.ts";
import type { LineWriter } from "./line-ring.ts";
import type { FromRank } from "./messages.ts";
import { nodeFiles } from "./node-files.ts";
import type { OutputGate } from "./output-gate.ts";
import type { RankInbox } from "./rank-inbox.ts";

/** A thread that waits in native code cannot be terminated: it wakes that often. */
const napMs = 100;
/** While it waits for standard input, which comes as a message, it looks that often. */
const inputMs = 5;

export interface LibraryOptions {
  readonly run: string;
  readonly args: readonly string[];
  readonly environment: readonly string[];
  readonly rank: number;
  readonly lines: LineWriter;
  readonly inbox: RankInbox;
  readonly say: (message: FromRank) => void;
  /** Of this process: a sleep ends early when it shall stop. */
  readonly suspension: Suspension;
  /** Others have the thread while it sleeps. */
  readonly takesTurns: boolean;
  readonly yield: () => void;
  readonly mayLeave: OutputGate;
  /** Where randomness comes from, if not from the system. */
  readonly random: SeededRandom | null;
}

export function newLibrary(options: LibraryOptions): Library {
  const { run, args, environment, rank, lines, inbox, say, suspension, takesTurns, mayLeave, random } = options;
  const giveWay = options.yield;
  const never = new Int32Array(new SharedArrayBuffer(4));
  let unread: Uint8Array = new Uint8Array(0);
  let ended = rank !== 0;

  /** Asks for a piece of standard input and waits for it; null at its end. */
  function nextInput(): Uint8Array | null {
    // A question without a line end has to be seen before its answer can be typed.
    lines.flush("stdout");
    say({ kind: "input-wanted" });
    for (;;) {
      const input = inbox.nextInput();
      if (input !== undefined) return input.bytes;
      Atomics.wait(never, 0, 0, inputMs);
    }
  }

  return {
    run,
    args,
    environment,
    files: nodeFiles,
    realTime: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)),
    steadyShiftNs: 0n,
    steadyTime() {
      return process.hrtime.bigint() + this.steadyShiftNs;
    },
    random: (bytes) => (random === null ? void randomFillSync(bytes) : random.fill(bytes)),
    sleep(untilNs) {
      for (;;) {
        const leftMs = Number(untilNs - this.steadyTime()) / 1e6;
        if (leftMs <= 0) return true;
        if (takesTurns || suspension.isWanted) {
          suspension.stop(null, () => this.steadyTime() >= untilNs);
          return false;
        }
        Atomics.wait(never, 0, 0, Math.min(leftMs, napMs));
      }
    },
    yield: giveWay,
    write(stream, bytes) {
      mayLeave("line");
      lines.write(stream === 1 ? "stdout" : "stderr", bytes);
    },
    read(bytes) {
      if (unread.length === 0 && !ended) {
        const next = nextInput();
        if (next === null) ended = true;
        else unread = next;
      }
      const piece = unread.subarray(0, bytes.length);
      bytes.set(piece);
      unread = unread.subarray(piece.length);
      return piece.length;
    },
    exit(code): never {
      throw new Ended({ kind: "exited", code });
    },
  };
}
