/**
 * The words that message logging says to processes of other sets: packets of three words, of which the first is one of these.
 *
 *   BEGIN   our incarnation, the peer's that we speak to    HELD    a number above the first missing that we have
 *   BROKEN  a number that we have without all its bytes     SUM     of the messages that we have
 *   END     the first number that we miss; 1: all was heard TRIM    the peer need not keep lower numbers any more
 *   ASK     of a synchronous message that was taken         ANSWER  the choices before that are stable
 */
import type { ProcessName } from "../../base/identity.ts";
import type { ProtocolPorts } from "../protocol.ts";

export const Frame = { BEGIN: 1, HELD: 2, BROKEN: 3, SUM: 4, END: 5, TRIM: 6, ASK: 7, ANSWER: 8 } as const;
type Frame = (typeof Frame)[keyof typeof Frame];

/** Ranks have one process each. */
export const processNameOf = (rank: number): ProcessName => ({ rank, replica: 0 });

/** Says one frame to a peer. */
export function tell(ports: ProtocolPorts, peer: number, frame: Frame, b: number, c = 0): void {
  ports.tell(processNameOf(peer), { a: frame, b, c });
}
