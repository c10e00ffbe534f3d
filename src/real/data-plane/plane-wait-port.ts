/** How the data plane of a rank that shares its thread waits. Null in the place of a port: the engine waits. */
export interface PlaneWaitPort {
  /**
   * Nothing has come, or the gate is shut. `look` answers with a `Sight` (abi/waiting/plane-wait.ts). The answer: 0, the engine waits; 1, the
   * plane looks again; 2, the stack is being unwound, and the call, made again when it is put back, begins with `rewound`.
   */
  wait(look: () => number): number;
  /** The stack has been put back. 1: the plane may wait again; 0: the engine goes on if the plane finds nothing. */
  rewound(): number;
}

const no = (): number => 0;

/** What face.wat, exchange.wat and collectives-face.wat import, each with its own look. */
export function waitImports(port: PlaneWaitPort | null, look: () => number): Record<"wait" | "rewound", () => number> {
  if (port === null) return { wait: no, rewound: no };
  return { wait: () => port.wait(look), rewound: () => port.rewound() };
}
