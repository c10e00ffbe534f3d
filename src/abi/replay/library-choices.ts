/**
 * What the C library shows of the world and that may differ in a second run, under a protocol that replays: clocks, and how
 * many bytes of standard input a read gives. What those bytes are is kept by whoever gives them.
 */
import { assert } from "../../core/base/assert.ts";
import { ChoiceKind, type Choices } from "../../core/ft/choices.ts";
import { type Library, WasiClock } from "../../wasi/ports.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

/** `clock_time_get`: each reading is a choice. Outcome: the two words of the nanoseconds, low one first. */
export function choosingClock(read: Call, library: Library, memory: Uint8Array, choices: Choices): Call {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  return (clock: number, precision: bigint, out: number) => {
    const answer = read(clock, precision, out);
    // There is no such clock, in any life.
    if (answer !== 0) return answer;
    const known = choices.replay(ChoiceKind.CLOCK);
    if (known === undefined) {
      choices.made(ChoiceKind.CLOCK, [view.getInt32(out, true), view.getInt32(out + 4, true)]);
      return answer;
    }
    assert(known !== null && known.length === 2, "a reading of a clock has two words");
    view.setInt32(out, known[0]!, true);
    view.setInt32(out + 4, known[1]!, true);
    if (clock !== WasiClock.REAL) {
      const aheadNs = view.getBigInt64(out, true) - library.steadyTime();
      if (aheadNs > 0n) library.steadyShiftNs += aheadNs;
    }
    return answer;
  };
}

/** The same library; each read of standard input is a choice. Outcome: how many bytes it gave. */
export function choosingInput<L extends Pick<Library, "read">>(library: L, choices: Choices): L {
  const read = (bytes: Uint8Array): number => {
    const known = choices.replay(ChoiceKind.INPUT);
    if (known === undefined) {
      const got = library.read(bytes);
      choices.made(ChoiceKind.INPUT, [got]);
      return got;
    }
    assert(
      known !== null && known.length === 1 && known[0]! <= bytes.length,
      "a read gives as much as there is room for",
    );
    const wanted = known[0]!;
    for (let got = 0; got < wanted; ) {
      const more = library.read(bytes.subarray(got, wanted));
      assert(more > 0, "standard input is as long in every life");
      got += more;
    }
    return wanted;
  };
  // Its other methods find in it what they keep there.
  return Object.assign(Object.create(library) as L, { read });
}
