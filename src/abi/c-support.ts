/** The imports of module `banyan`: what the C library of a program needs beyond WASI (src/cc/support). */
import { Ended } from "./ended.ts";

interface SupportOptions {
  /** The program's memory. */
  readonly memory: Uint8Array;
  readonly pid: number;
  readonly hostName: string;
  /** "SIGKILL" for 9; undefined: it has no name. */
  signalName(signal: number): string | undefined;
}

const SIGSEGV = 11;
/** What a job says of its end is a line. */
const fatalBytesMax = 4096;

export function supportImports({ memory, pid, hostName, signalName }: SupportOptions) {
  const textAt = (address: number): string => {
    const text = memory.subarray(address, address + fatalBytesMax);
    const end = text.indexOf(0);
    return new TextDecoder().decode(text.slice(0, end < 0 ? text.length : end));
  };
  const die = (signal: number): never => {
    throw new Ended({ kind: "signalled", signal, name: signalName(signal) ?? `signal ${signal}` });
  };
  return {
    getpid: (): number => pid,
    /** Writes the machine's name and a closing zero, cut to `room` bytes. */
    hostname(address: number, room: number): void {
      // As if the C library had followed the address itself.
      if (address <= 0 || room <= 0 || address + room > memory.length) die(SIGSEGV);
      const name = new TextEncoder().encode(hostName).subarray(0, room - 1);
      memory.set(name, address);
      memory[address + name.length] = 0;
    },
    die,
    fatal(message: number): never {
      throw new Ended({ kind: "gave-up", why: textAt(message) });
    },
  };
}
