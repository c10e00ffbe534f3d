/** The ways a message travels, as data for tests: each row makes the engine take one of them. */
import type { ByHand } from "../../../sim/testing/scripted-world.ts";
import type { WorldOptions } from "../../../sim/world.ts";

interface MessageWay {
  readonly name: string;
  readonly bytes: number;
  readonly world: WorldOptions;
  readonly sendLent: boolean;
  readonly receiveLent: boolean;
  /** Was this way really taken? `hand` has sent from rank 0 to rank 1. */
  readonly taken: (hand: ByHand) => boolean;
}

const together: WorldOptions = { ranks: 2, nodes: 1, sharesInside: true };
const apart: WorldOptions = { ranks: 2, nodes: 2 };
const unlent = { sendLent: false, receiveLent: false };
const marks = (hand: ByHand, rank: number) => hand.world.processes[rank]!.transport.marks;
const nothing = (hand: ByHand): boolean =>
  [0, 1].every((rank) => Object.values(marks(hand, rank)).every((times) => times === 0));

export const messageWays: readonly MessageWay[] = [
  { name: "eager, no bytes", bytes: 0, world: apart, ...unlent, taken: nothing },
  { name: "eager, small", bytes: 24, world: apart, ...unlent, taken: nothing },
  { name: "eager, up to the limit", bytes: 8 << 10, world: together, ...unlent, taken: nothing },
  { name: "eager, lent views", bytes: 1000, world: apart, sendLent: true, receiveLent: true, taken: nothing },
  {
    name: "one copy by the receiver",
    bytes: 20_000,
    world: together,
    ...unlent,
    taken: (hand) => marks(hand, 1).fetch === 1 && marks(hand, 0).help === 0,
  },
  {
    name: "one copy with the sender's help",
    bytes: 200_001,
    world: together,
    ...unlent,
    taken: (hand) => marks(hand, 1).fetch === 1 && marks(hand, 0).help === 1,
  },
  {
    name: "one copy into a lent view",
    bytes: 20_000,
    world: together,
    sendLent: false,
    receiveLent: true,
    taken: nothing,
  },
  {
    name: "one copy by the sender, out of a lent view",
    bytes: 20_000,
    world: together,
    sendLent: true,
    receiveLent: false,
    taken: (hand) => marks(hand, 0).put === 1,
  },
  {
    name: "in pieces between lent views",
    bytes: 100_000,
    world: together,
    sendLent: true,
    receiveLent: true,
    taken: (hand) => marks(hand, 0).push > 1,
  },
  {
    name: "in pieces between nodes",
    bytes: 100_000,
    world: apart,
    ...unlent,
    taken: (hand) => marks(hand, 0).push > 1,
  },
  {
    name: "in pieces through a narrow channel",
    bytes: 100_000,
    world: { ...apart, cost: { channelBytesMax: 300, pieceBytesMax: 1000 } },
    ...unlent,
    taken: (hand) => marks(hand, 0).push === 100 && hand.world.network.timesFull > 0,
  },
  {
    name: "in pieces, the channel often full for no reason",
    bytes: 100_000,
    world: { ...apart, cost: { fullChance: 0.5 } },
    ...unlent,
    taken: (hand) => marks(hand, 0).push > 1 && hand.world.network.timesFull > 0,
  },
];
