/** The imports of module `banyan`: what the C library of a program needs beyond WASI (src/cc/support). */
import type { Terminals } from "../core/base/terminals.ts";
import type { Descriptors } from "../wasi/descriptors.ts";
import { Ended } from "./ended.ts";

interface SupportOptions {
  /** The program's memory. */
  readonly memory: Uint8Array;
  readonly pid: number;
  readonly hostName: string;
  readonly descriptors: Descriptors;
  readonly terminals: Terminals;
  /** "SIGKILL" for 9; undefined: it has no name. */
  signalName(signal: number): string | undefined;
}

const SIGSEGV = 11;
/** What a job says of its end is a line. */
const fatalBytesMax = 4096;

export function supportImports(options: SupportOptions) {
  const { memory, pid, hostName, descriptors, terminals, signalName } = options;
  const textAt = (address: number): string => {
    const text = memory.subarray(address, address + fatalBytesMax);
    const end = text.indexOf(0);
    return new TextDecoder().decode(text.slice(0, end < 0 ? text.length : end));
  };
  const die = (signal: number): never => {
    throw new Ended({ kind: "signalled", signal, name: signalName(signal) ?? `signal ${signal}`, why: "", frames: [] });
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
    /** 1: the descriptor is a terminal; 0: it is none; -1: nothing is open there. */
    isatty(fd: number): number {
      const descriptor = descriptors.all()[fd];
      if (descriptor === undefined) return -1;
      if (descriptor.kind === "input") return Number(terminals.stdin);
      if (descriptor.kind !== "output") return 0;
      return Number(fd === 2 ? terminals.stderr : terminals.stdout);
    },
    die,
    fatal(message: number): never {
      throw new Ended({ kind: "gave-up", why: textAt(message) });
    },
  };
}
