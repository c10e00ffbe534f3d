import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { ChoiceKind } from "../../core/ft/choices.ts";
import { TestChoices } from "../../core/ft/testing/choices.ts";
import { restoreState } from "../../image/state/restore-state.ts";
import { saveState } from "../../image/state/save-state.ts";
import { noFiles } from "../../sim/c/library.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { Errno } from "../../wasi/errno.ts";
import { type Library, WasiClock } from "../../wasi/ports.ts";
import { wasiImports } from "../../wasi/wasi.ts";
import { choosingClock, choosingInput } from "./library-choices.ts";

const decoder = new TextDecoder();

/** A C library whose clocks begin at `startNs`, and whose input comes in those pieces. */
class Life {
  readonly choices: TestChoices;
  readonly #memory = new Uint8Array(4096);
  readonly #view = new DataView(this.#memory.buffer);
  readonly #wasi: ReturnType<typeof wasiImports>;

  constructor(choices: TestChoices, startNs: bigint, pieces: readonly string[]) {
    this.choices = choices;
    let ns = startNs;
    let input = pieces.map((piece) => new TextEncoder().encode(piece));
    const library: Library = {
      run: "test",
      args: [],
      environment: [],
      files: noFiles,
      random() {},
      yield() {},
      write() {},
      realTime: () => ++ns,
      steadyShiftNs: 0n,
      steadyTime() {
        return ++ns + this.steadyShiftNs;
      },
      sleep: () => true,
      awaitInput: () => true,
      read(bytes) {
        const [first, ...rest] = input;
        if (first === undefined) return 0;
        const piece = first.subarray(0, bytes.length);
        bytes.set(piece);
        input = piece.length < first.length ? [first.subarray(piece.length), ...rest] : rest;
        return piece.length;
      },
      exit: () => assert.fail("the program exits"),
    };
    const shown = choosingInput(library, choices);
    const descriptors = new Descriptors(noFiles, []);
    this.#wasi = wasiImports({ library: shown, memory: this.#memory, descriptors, pause: { untilNs: 0n } });
    const clock = choosingClock(this.#wasi["clock_time_get"]!, library, this.#memory, choices);
    this.#wasi["clock_time_get"] = clock;
  }

  time(clock: number): bigint {
    assert.equal(this.#wasi["clock_time_get"]!(clock, 0n, 8), Errno.SUCCESS);
    return this.#view.getBigUint64(8, true);
  }

  noClock(): number {
    return this.#wasi["clock_time_get"]!(7, 0n, 8);
  }

  /** As `readv` of two buffers. */
  read(...lengths: readonly [number, number]): string {
    this.#view.setUint32(16, 256, true);
    this.#view.setUint32(20, lengths[0], true);
    this.#view.setUint32(24, 256 + lengths[0], true);
    this.#view.setUint32(28, lengths[1], true);
    assert.equal(this.#wasi["fd_read"]!(0, 16, 2, 32), Errno.SUCCESS);
    return decoder.decode(this.#memory.slice(256, 256 + this.#view.getUint32(32, true)));
  }
}

const times = (life: Life) => [WasiClock.REAL, WasiClock.STEADY, WasiClock.PROCESS].map((clock) => life.time(clock));

test("L1 replay: a C program reads the clocks of its first life, and steady ones go on from there", () => {
  const first = new Life(new TestChoices(), 5_000_000_000_000_000_000n, []);
  const seen = times(first);
  assert.equal(first.noClock(), Errno.INVAL);
  assert.equal(first.choices.all.length, 3);
  const second = new Life(new TestChoices(first.choices.all), 7n, []);
  assert.equal(second.noClock(), Errno.INVAL, "what is wrong is no choice");
  assert.deepEqual(times(second), seen);
  assert(second.time(WasiClock.STEADY) > seen[2]!, "it does not go back");
  assert(second.time(WasiClock.REAL) < 1000n, "the day is that of the world");
});

test("L1 replay: reads of standard input give as much as in the first life, however it comes", () => {
  const read = (life: Life) => [life.read(4, 8), life.read(1, 8), life.read(3, 3), life.read(3, 3), life.read(3, 3)];
  const first = new Life(new TestChoices(), 0n, ["hello wor", "ld", "!"]);
  const seen = read(first);
  assert.deepEqual(seen, ["hello wor", "ld", "!", "", ""]);
  assert(first.choices.all.every(({ kind }) => kind === ChoiceKind.INPUT));
  for (const pieces of [["hello world!"], [..."hello world!"], ["hel", "lo world", "!"]]) {
    const second = new Life(new TestChoices(first.choices.all), 0n, pieces);
    assert.deepEqual(read(second), seen);
    assert.equal(second.choices.taken, first.choices.all.length);
  }
});

test("L1 replay: an image holds where the randomness of a program is", () => {
  const bytesOf = (random: SeededRandom) => {
    const bytes = new Uint8Array(9);
    random.fill(bytes);
    return bytes;
  };
  const first = { random: SeededRandom.ofRank(7, 3) };
  bytesOf(first.random);
  const state = saveState(first, new Map());
  const second = { random: SeededRandom.ofRank(8, 3) };
  restoreState(state, second, new Map());
  assert.deepEqual(bytesOf(second.random), bytesOf(first.random));
});
