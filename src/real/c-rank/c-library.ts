/** The C library's ports in a rank's thread: clocks, randomness, waiting, streams. */
import { randomFillSync } from "node:crypto";
import { Ended } from "../../abi/ended.ts";
import type { Suspension } from "../../abi/waiting/suspension.ts";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import type { Files, Library } from "../../wasi/ports.ts";
import type { FromRank, Input } from "../messages/rank-messages.ts";
import type { LineWriter } from "../output/line-ring.ts";
import type { OutputGate } from "../output/output-gate.ts";
import type { RankInbox } from "../rank/rank-inbox.ts";

/** A thread that waits in native code cannot be terminated: it wakes that often. */
const napMs = 100;
/** While it waits for standard input, which comes as a message, it looks that often. */
const inputMs = 5;

/** Where a rank is in standard input: plain data, part of its image. */
export interface InputPlace {
  /** How much it has been given, */
  offset: number;
  /** and what of that the program has not read. */
  unread: Uint8Array;
  isEnded: boolean;
}

export const newInputPlace = (mayRead: boolean): InputPlace => ({
  offset: 0,
  unread: new Uint8Array(0),
  isEnded: !mayRead,
});

interface LibraryOptions {
  readonly run: string;
  readonly args: readonly string[];
  readonly environment: readonly string[];
  readonly files: Files;
  readonly lines: LineWriter;
  readonly input: InputPlace;
  /** Is standard input this rank's? It may become so. */
  readonly isReader: () => boolean;
  readonly inbox: RankInbox;
  readonly say: (message: FromRank) => void;
  /** Of this process: a sleep ends early when it shall stop. */
  readonly suspension: Suspension;
  /** Others have the thread while it sleeps. */
  readonly takesTurns: boolean;
  readonly yield: () => void;
  readonly mayLeave: OutputGate;
  /** Lets messages go on until that is so; null: nobody needs them meanwhile. */
  readonly settle: ((isOver: () => boolean) => void) | null;
  /** Where randomness comes from, if not from the system. */
  readonly random: SeededRandom | null;
}

export function newLibrary(options: LibraryOptions): Library {
  const { run, args, environment, files, lines, input, inbox, say, suspension, takesTurns, mayLeave, settle, random } =
    options;
  const { isReader } = options;
  const giveWay = options.yield;
  const never = new Int32Array(new SharedArrayBuffer(4));

  let isInputAsked = false;

  /** Is there anything to read, or will there never be? Asks for it otherwise. */
  function hasInput(): boolean {
    if (input.unread.length > 0 || input.isEnded || !isReader()) return true;
    if (!isInputAsked) {
      // A question without a line end has to be seen before its answer can be typed.
      lines.flush("stdout");
      say({ kind: "input-wanted", offset: input.offset });
      isInputAsked = true;
    }
    const next: Input | undefined = inbox.nextInput();
    // Input meant for an earlier life will be given again.
    if (next === undefined || next.offset !== input.offset) return false;
    isInputAsked = false;
    input.isEnded = next.bytes === null;
    input.unread = next.bytes ?? input.unread;
    input.offset += next.bytes?.length ?? 0;
    return true;
  }

  return {
    run,
    args,
    environment,
    files,
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
    awaitInput() {
      if (!takesTurns || hasInput()) return true;
      suspension.stop(null, hasInput);
      return false;
    },
    read(bytes) {
      if (settle !== null) settle(hasInput);
      else while (!hasInput()) Atomics.wait(never, 0, 0, inputMs);
      const piece = input.unread.subarray(0, bytes.length);
      bytes.set(piece);
      input.unread = input.unread.subarray(piece.length);
      return piece.length;
    },
    exit(code): never {
      throw new Ended({ kind: "exited", code });
    },
  };
}
