/**
 * Waits in the data plane of a rank that shares its thread (docs/adr/0026-waits-and-exchanges-in-the-data-plane.md). Nothing is posted, and
 * the engine hears nothing of the wait: when another rank of the thread can go on the stack is unwound, and when something has come it is
 * put back and the plane looks again. So the way of a message stays short, and almost none of it is JavaScript.
 */
import type { Call } from "../../abi/call-table.ts";
import type { Program } from "../../abi/program.ts";

/** Calls of the plane by their names. */
type Calls = Record<string, Call>;

interface PlaneWaitsPorts {
  readonly program: Program;
  /** See `CoroutineHost`. */
  mustGiveWay(isOver: () => boolean): boolean;
  /** Is there anything for a receive of the plane to look at? */
  hasNews(): boolean;
}

/** The function that goes on with a call in which the plane has waited: MPI_Sendrecv has sent its message by then. */
const continuations: Readonly<Record<string, string>> = { MPI_Recv: "MPI_Recv", MPI_Sendrecv: "restOfExchange" };

export class PlaneWaits {
  readonly #ports: PlaneWaitsPorts;
  readonly #isReady: () => boolean;

  constructor(ports: PlaneWaitsPorts) {
    this.#ports = ports;
    this.#isReady = () => ports.hasNews();
  }

  /** Nothing has come: the answers are those of `wait` in face.wat. */
  wait(): number {
    if (!this.#ports.mustGiveWay(this.#isReady)) return 1;
    this.#ports.program.suspension.stopInPlane(this.#isReady);
    return 0;
  }

  /** Puts in front of imports what goes on with a call in the plane, whose functions `plane` gives when all are connected. */
  goOnBefore(engine: Calls, plane: () => Calls): Calls {
    const { program } = this.#ports;
    const { suspension } = program;
    const before = { ...engine };
    for (const [name, continuation] of Object.entries(continuations)) {
      const call = engine[name];
      if (call === undefined) continue;
      const goOn: Call = (...args) => {
        suspension.goOn(program);
        return plane()[continuation]!(...args);
      };
      before[name] =
        name === "MPI_Recv"
          ? (a, b, c, d, e, f, g) => (suspension.isInPlane ? goOn(a, b, c, d, e, f, g) : call(a, b, c, d, e, f, g))
          : (...args) => (suspension.isInPlane ? goOn(...args) : call(...args));
    }
    return before;
  }
}
