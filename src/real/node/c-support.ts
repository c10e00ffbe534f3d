/** The imports of module `banyan`: what the C library of a program needs beyond WASI (src/cc/support). */
import { constants } from "node:os";
import type { Ending } from "../../core/service/ending.ts";

/** Thrown where the program ends itself otherwise than by `exit`; caught where it was started. */
export class Ended extends Error {
  readonly ending: Ending;
  constructor(ending: Ending) {
    super(ending.kind);
    this.ending = ending;
  }
}

export interface SupportOptions {
  /** The program's memory. */
  readonly memory: Uint8Array;
  readonly pid: number;
  readonly hostName: string;
}

export function supportImports({ memory, pid, hostName }: SupportOptions) {
  const textAt = (address: number): string => {
    const end = memory.indexOf(0, address);
    return new TextDecoder().decode(memory.slice(address, end));
  };
  return {
    getpid: (): number => pid,
    /** Writes the machine's name and a closing zero, cut to `room` bytes. */
    hostname(address: number, room: number): void {
      const name = new TextEncoder().encode(hostName).subarray(0, room - 1);
      memory.set(name, address);
      memory[address + name.length] = 0;
    },
    die(signal: number): never {
      const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
      throw new Ended({ kind: "signalled", signal, name });
    },
    fatal(message: number): never {
      throw new Ended({ kind: "gave-up", why: textAt(message) });
    },
  };
}
