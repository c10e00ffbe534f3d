/**
 * How a rank that shares its thread waits in its data plane: for a message (docs/adr/0026-waits-and-exchanges-in-the-data-plane.md) and at
 * the gate of a board (docs/adr/0025-collectives-in-the-data-plane.md). Nothing is posted, and the engine hears nothing of the wait: when
 * another rank of the thread can go on the stack is unwound, and when there is something to see it is put back and the plane goes on. So
 * the way of a message stays short, and almost none of it is JavaScript.
 */
import type { Program } from "../../abi/program.ts";

/** Answers of `wait`, as the text of the plane has them. */
const ENGINE_WAITS = 0;
const LOOK_AGAIN = 1;
const UNWINDS = 2;

interface PlaneWaitsPorts {
  readonly program: Program;
  /** See `CoroutineHost`. */
  mustGiveWay(isOver: () => boolean): boolean;
}

/** See `PlaneWaitPort` of real/data-plane/plane-wait-port.ts. */
export class PlaneWaits {
  readonly #ports: PlaneWaitsPorts;
  readonly #isOver: () => boolean;

  constructor(ports: PlaneWaitsPorts) {
    const { planeWait } = ports.program.suspension;
    this.#ports = ports;
    this.#isOver = () => planeWait.hasNews();
  }

  wait(look: () => number): number {
    const { suspension } = this.#ports.program;
    const { planeWait } = suspension;
    planeWait.begin(look);
    do {
      if (this.#ports.mustGiveWay(this.#isOver)) {
        suspension.unwind();
        return UNWINDS;
      }
    } while (!planeWait.hasNews());
    return planeWait.end() ? LOOK_AGAIN : ENGINE_WAITS;
  }

  rewound(): number {
    const { program } = this.#ports;
    program.suspension.goOn(program);
    return program.suspension.planeWait.end() ? 1 : 0;
  }
}
