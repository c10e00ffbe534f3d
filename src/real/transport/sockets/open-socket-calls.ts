/**
 * Chooses the socket calls: koffi where it is installed and the system is Linux, otherwise the calls of Node itself. Both are
 * equally fast; koffi can also sleep over sockets. `BANYAN_SOCKET_CALLS=wasi` (or koffi) decides by hand.
 */
import type { Memory } from "../../../core/request/memory.ts";
import { undisturbed } from "../../machine/undisturbed.ts";
import { KoffiCalls } from "./koffi-calls.ts";
import { type SocketCalls, scratchBytes } from "./socket-calls.ts";
import { WasiCalls } from "./wasi-calls.ts";

/** Room for ordinary views, which WASI cannot reach. */
const wasiScratchBytes = 128 * 1024;

export function openSocketCalls(shared: WebAssembly.Memory, memory: Memory): SocketCalls {
  return openSocketCallsOver(shared, (isForViews) => {
    const bytes = isForViews ? wasiScratchBytes : scratchBytes;
    return { scratch: memory.allocate(bytes), scratchBytes: bytes };
  });
}

/** The same where the scratch space comes from elsewhere; `isForViews`: a large one is of use. */
export function openSocketCallsOver(
  memory: WebAssembly.Memory,
  place: (isForViews: boolean) => { readonly scratch: number; readonly scratchBytes: number },
): SocketCalls {
  const wanted = process.env["BANYAN_SOCKET_CALLS"];
  if (wanted !== "wasi" && process.platform === "linux") {
    try {
      const { scratch } = place(false);
      return undisturbed(() => new KoffiCalls({ memory, scratch }));
    } catch (error) {
      // Not installed, or not for this machine.
      if (wanted === "koffi") throw error;
    }
  }
  return new WasiCalls({ memory, ...place(true) });
}
