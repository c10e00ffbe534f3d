/** Output of a rank that is no message waits here until a message could leave (rule 2). */
import type { Protocol, Write } from "../../core/ft/protocol.ts";
import type { RankHost } from "../process/rank-host.ts";

/** Returns when what is about to leave may. */
export type OutputGate = (kind: Write["kind"]) => void;

const alwaysOpen: OutputGate = () => {};

/** The program waits, and messages go on meanwhile. One gate for everything that leaves: its writes are numbered together. */
export function outputGate(protocol: Protocol | null, host: Pick<RankHost, "settle">): OutputGate {
  if (protocol === null) return alwaysOpen;
  let number = 0;
  return (kind) => {
    const write = { kind, number: number++ };
    if (!protocol.writeMayLeave(write)) host.settle(() => protocol.writeMayLeave(write));
  };
}
