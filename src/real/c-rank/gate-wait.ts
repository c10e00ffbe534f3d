/**
 * How a rank that shares its thread waits in a collective of its data plane, at the gate of a board: without its engine, which takes
 * over as soon as anything but the gate's opening is to be seen (docs/adr/0025-collectives-in-the-data-plane.md). Until then the rank
 * hears nothing and makes no progress, because there is nothing to hear and nothing under way.
 */
import type { Program } from "../../abi/program.ts";

/** Answers of `wait`, as collectives-face.wat has them. */
const ENGINE_WAITS = 0;
const GATE_IS_OPEN = 1;
const UNWINDS = 2;

/** So often no rank of the thread has anything to do: then the engine waits, which can ask the others and sleep for long. */
const looksMax = 300;

/** See `GatePort` of real/data-plane/collectives.ts. */
export class GateWait {
  readonly #program: Program;
  readonly #mustGiveWay: () => boolean;

  constructor(program: Program, mustGiveWay: () => boolean) {
    this.#program = program;
    this.#mustGiveWay = mustGiveWay;
  }

  wait(look: () => number): number {
    for (let looks = 0; looks < looksMax; looks++) {
      if (this.#mustGiveWay()) {
        this.#program.suspension.stopAtGate(look);
        return UNWINDS;
      }
      const seen = look();
      if (seen !== 0) return seen === 1 ? GATE_IS_OPEN : ENGINE_WAITS;
    }
    return ENGINE_WAITS;
  }

  rewound(): void {
    this.#program.suspension.goOnAtGate(this.#program);
  }
}
