/** What things cost in a simulated world, and how much fits: all times integer nanoseconds. */
export interface CostModel {
  /** From commit to arrival, between processes of one node and between nodes. */
  readonly latencyInsideNs: number;
  readonly latencyBetweenNs: number;
  /** Largest delay that the seed adds to a packet: packets of different channels overtake each other. */
  readonly jitterNs: number;
  /** Nanoseconds a channel is busy with 1024 bytes. */
  readonly kibibyteInsideNs: number;
  readonly kibibyteBetweenNs: number;
  /** From the moment something happened for a waiting process until it looks. */
  readonly wakeNs: number;
  /** What a C program pays for each call of MPI and each look at a clock; nothing else that it does takes time. */
  readonly callNs: number;
  /** How far a process may run ahead of the others. */
  readonly aheadNsMax: number;
  /** From a crash until the others are told, plus jitter. */
  readonly detectionNs: number;
  /** A channel is full with this number of bytes that its receiver has not taken; one packet always fits. */
  readonly channelBytesMax: number;
  /** Probability that a channel says "full" without being full. */
  readonly fullChance: number;
  /** Largest message that travels eagerly. */
  readonly eagerBytesMax: number;
  /** Payload of one piece of a large message. */
  readonly pieceBytesMax: number;
  /** From this size on a copy from shared memory is shared with the sender. */
  readonly helpBytesMin: number;
  /** What becomes of the packets a process sent before it crashed: the first ones of each channel may arrive, the rest is lost. */
  readonly inFlightAtCrash: "delivered" | "lost" | "either";
}

/** Roughly the machine of facts.md: threads in a node, TCP between nodes. */
export const costModelDefault: CostModel = {
  latencyInsideNs: 180,
  latencyBetweenNs: 4_400,
  jitterNs: 1_000,
  kibibyteInsideNs: 65,
  kibibyteBetweenNs: 220,
  wakeNs: 100,
  callNs: 100,
  aheadNsMax: 10_000,
  detectionNs: 100_000_000,
  channelBytesMax: 256 << 10,
  fullChance: 0,
  eagerBytesMax: 8 << 10,
  pieceBytesMax: 16 << 10,
  helpBytesMin: 64 << 10,
  inFlightAtCrash: "either",
};
