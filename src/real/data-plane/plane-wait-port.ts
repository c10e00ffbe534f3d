/**
 * How the data plane of a rank that shares its thread waits: for a message, or at the gate of a board. Nothing is posted, and the engine
 * hears nothing of the wait (docs/adr/0026-waits-and-exchanges-in-the-data-plane.md). The functions are imports of the plane's text, and may be
 * WebAssembly. Null in the place of a port: the engine waits.
 */
export interface PlaneWaitPort {
  /** The looks of this plane, before it waits for the first time: functions of its text that answer with a `Sight`. */
  looks(forMessage: () => number, atGate: () => number): void;
  /**
   * Nothing has come, or the gate is shut. The answer: 0, the engine waits; 1, the plane looks again; 2, the stack is being unwound, and the
   * call, made again when it is put back, begins with `rewound`.
   */
  readonly waitForMessage: () => number;
  readonly waitAtGate: () => number;
  /** The stack has been put back. 1: the plane may wait again; 0: the engine goes on if the plane finds nothing. */
  readonly rewound: () => number;
}

/** What a look shows: nothing new; something that the engine must see to. Any other number: what the plane waits for may be there. */
export const Sight = { NOTHING: 0, ENGINE: 2 } as const;

const no = (): number => 0;

type WaitImports = Record<"wait" | "rewound", () => number>;

/** What face.wat and exchange.wat import, */
export const messageWaits = (port: PlaneWaitPort | null): WaitImports =>
  port === null ? { wait: no, rewound: no } : { wait: port.waitForMessage, rewound: port.rewound };

/** and what collectives-face.wat does. */
export const gateWaits = (port: PlaneWaitPort | null): WaitImports =>
  port === null ? { wait: no, rewound: no } : { wait: port.waitAtGate, rewound: port.rewound };
