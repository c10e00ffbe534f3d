/**
 * Functions of the C library, where something is faster or only possible by them. Null: there is no such way here, because the system is another, or koffi is
 * not installed or not for this machine; whoever asks has another way.
 */
type Koffi = typeof import("koffi");

export function openLibrary<T>(open: (library: ReturnType<Koffi["load"]>, koffi: Koffi) => T): T | null {
  if (process.platform !== "linux") return null;
  try {
    const koffi = require("koffi") as Koffi;
    // The symbols of the process itself: the C library under whatever name.
    return open(koffi.load(null), koffi);
  } catch {
    return null;
  }
}
