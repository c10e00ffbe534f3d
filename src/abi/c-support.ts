/** The imports of module `banyan`: what the C library of a program needs beyond WASI (src/cc/support). */
import { Ended } from "./ended.ts";

export interface SupportOptions {
  /** The program's memory. */
  readonly memory: Uint8Array;
  readonly pid: number;
  readonly hostName: string;
  /** "SIGKILL" for 9; undefined: it has no name. */
  signalName(signal: number): string | undefined;
}

export function supportImports({ memory, pid, hostName, signalName }: SupportOptions) {
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
      throw new Ended({ kind: "signalled", signal, name: signalName(signal) ?? `signal ${signal}` });
    },
    fatal(message: number): never {
      throw new Ended({ kind: "gave-up", why: textAt(message) });
    },
  };
}
