/**
 * A substitute is in several worlds, and has seen what its own world has sent. Another world may be behind: there a message that depends on what
 * nobody has sent yet would come from the future, and a receive of ANY_SOURCE take it instead of one that was meant (the paper's algorithm
 * has no such case, docs/replication.md). So a message passes the gate to a world when all that the program had seen before it posted the message
 * has been sent in that world as well. Who sends there tells it (world-notices.ts).
 *
 * A clone has the past of its source, which is of another world. So its own world has a gate too, until all has been sent there that came to
 * the source before the image was taken. What comes later is of the clone's own world.
 */
import { lives, saves } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { ReceivedNumbers } from "../received-numbers.ts";
import type { SeenOrder } from "./seen-order.ts";
import type { Past } from "./strands.ts";

class Gate {
  readonly world: number;
  /** All that was seen before this position has been sent in that world, if what was seen before the remembered order has. */
  position: number;
  isPastForgotten = false;
  /** By rank: the messages to this process that have been sent in that world. */
  readonly sent = new Map<number, ReceivedNumbers>();

  constructor(world: number, position: number) {
    this.world = world;
    this.position = position;
  }

  sentBy(rank: number): ReceivedNumbers {
    let numbers = this.sent.get(rank);
    if (numbers === undefined) {
      numbers = new ReceivedNumbers();
      this.sent.set(rank, numbers);
    }
    return numbers;
  }
}

interface WorldGatesParts {
  /** The world of this process. */
  readonly own: number;
  readonly order: SeenOrder;
  /** By rank: all messages that have come. */
  readonly arrived: ReadonlyMap<number, ReceivedNumbers>;
}

/** By rank. */
type Numbers = Map<number, Set<number>>;

export class WorldGates {
  private readonly order: SeenOrder;
  private readonly arrived: ReadonlyMap<number, ReceivedNumbers>;
  private readonly ports: ProtocolPorts;
  private readonly gates = new Map<number, Gate>();
  private own: number;
  /** A clone's own world is not as far as its source was; that far: a position, and what had come and was not seen by the program. */
  isAhead = false;
  private sourceEnd = 0;
  private unseen: Numbers = new Map();

  constructor(ports: ProtocolPorts, { own, order, arrived }: WorldGatesParts) {
    this.ports = ports;
    this.own = own;
    this.order = order;
    this.arrived = arrived;
  }

  /** This process is a clone, in that world. */
  begin(own: number): void {
    this.own = own;
    this.isAhead = true;
    this.sourceEnd = this.order.end;
    this.unseen = this.unseenNow();
    this.addTaken(this.unseen);
    // The order may have been forgotten past those that the source did not ask for.
    for (const gate of this.gates.values()) gate.isPastForgotten = false;
  }

  /** Has the own world come as far as the source was? Then that is so for ever. */
  hasCaughtUp(): boolean {
    if (!this.isAhead || !this.hasPassed(this.own, this.sourceEnd)) return false;
    const gate = this.gateOf(this.own);
    for (const [rank, numbers] of this.unseen) {
      for (const number of numbers) if (!hasSent(gate, rank, number)) return false;
    }
    this.isAhead = false;
    this.unseen.clear();
    this.gates.delete(this.own);
    return true;
  }

  /** Others send to those worlds from now on. */
  leave(worlds: number): void {
    for (const gate of this.gates.values()) if ((worlds & (1 << gate.world)) !== 0) gate.isPastForgotten = false;
  }

  /** Is nothing asked of messages to that world? */
  isFree(world: number): boolean {
    return world === this.own && !this.isAhead;
  }

  /** To a clone, that message has come from its own world. */
  came(rank: number, sequence: number): void {
    this.gateOf(this.own).sentBy(rank).add(sequence);
  }

  /** The news of a world may come before that of the death which makes this process its sender. */
  private gateOf(world: number): Gate {
    let gate = this.gates.get(world);
    if (gate === undefined) {
      gate = new Gate(world, this.order.front);
      this.gates.set(world, gate);
    }
    return gate;
  }

  /** In that world a run of messages of that rank to this process's has been sent. */
  hear(world: number, rank: number, first: number, count: number): void {
    if (this.isFree(world)) return;
    const sent = this.gateOf(world).sentBy(rank);
    for (let i = 0; i < count; i++) sent.add((first + i) | 0);
  }

  /** What is known of the messages that rank has sent in that world. */
  sentIn(world: number, rank: number): ReceivedNumbers | undefined {
    return this.gates.get(world)?.sent.get(rank);
  }

  /** All before that number. */
  hearBefore(world: number, rank: number, sequence: number): void {
    if (!this.isFree(world)) this.gateOf(world).sentBy(rank).addBefore(sequence);
  }

  /** May a message be sent in that world? */
  mayPass(world: number, { position, strand, taken }: Past): boolean {
    if (!this.hasPassed(world, position)) return false;
    if (strand === null || this.isFree(world)) return true;
    const gate = this.gateOf(world);
    for (let i = 0; i < taken; i++) if (!hasSent(gate, strand.rankAt(i), strand.sequenceAt(i))) return false;
    return true;
  }

  /** Has all been sent in that world that the program had seen before that position? */
  private hasPassed(world: number, position: number): boolean {
    if (this.isFree(world)) return true;
    const gate = this.gateOf(world);
    if (gate.isPastForgotten && gate.position >= position) return true;
    this.advance(gate, position);
    return gate.isPastForgotten && gate.position >= position;
  }

  private advance(gate: Gate, to: number): void {
    const { order } = this;
    gate.isPastForgotten ||= this.hasSentForgotten(gate);
    if (!gate.isPastForgotten) return;
    while (gate.position < to && hasSent(gate, order.rankAt(gate.position), order.sequenceAt(gate.position))) {
      gate.position++;
    }
  }

  /** Has all been sent in that world that was seen before the remembered order? That is all that has come, but for what is remembered or not seen yet. */
  private hasSentForgotten(gate: Gate): boolean {
    const others = this.unseenNow(this.remembered(gate.position));
    this.addTaken(others);
    for (const [rank, arrived] of this.arrived) {
      const first = gate.sent.get(rank)?.firstMissing ?? 0;
      const isLacking = (number: number): boolean =>
        arrived.has(number) && !hasSent(gate, rank, number) && others.get(rank)?.has(number) !== true;
      for (let number = first; ((number - arrived.firstMissing) | 0) < 0; number = (number + 1) | 0) {
        if (isLacking(number)) return false;
      }
      for (const number of arrived.later) if (isLacking(number)) return false;
    }
    return true;
  }

  /** Adds what has come and was not seen. */
  private unseenNow(found: Numbers = new Map()): Numbers {
    this.ports.forEachOpen((rank, sequence) => {
      if (rank !== this.ports.rank && !this.order.isShown(rank, sequence)) addTo(found, rank, sequence);
    });
    return found;
  }

  /** What collectives under way have taken was not seen by the program either. */
  private addTaken(found: Numbers): void {
    this.order.strands.forEachTaken((rank, sequence) => addTo(found, rank, sequence));
  }

  /** From that position on. */
  private remembered(from: number): Numbers {
    const { order } = this;
    const found: Numbers = new Map();
    for (let position = from; position < order.end; position++) {
      addTo(found, order.rankAt(position), order.sequenceAt(position));
    }
    return found;
  }

  /** The order from there on is asked for by some gate; those of worlds that others send to wait for nothing yet. */
  oldest(worlds: number): number {
    let oldest = this.order.end;
    for (const gate of this.gates.values()) {
      if ((worlds & (1 << gate.world)) === 0) continue;
      this.advance(gate, this.order.end);
      oldest = Math.min(oldest, gate.position);
    }
    return oldest;
  }

  /** What is forgotten now was before the gates of other worlds, too. */
  trimmed(): void {
    for (const gate of this.gates.values()) gate.position = Math.max(gate.position, this.order.front);
  }
}

function addTo(numbers: Numbers, rank: number, number: number): void {
  const ofRank = numbers.get(rank) ?? new Set<number>();
  numbers.set(rank, ofRank.add(number));
}

const hasSent = (gate: Gate, rank: number, sequence: number): boolean => gate.sent.get(rank)?.has(sequence) === true;

saves({ Gate });
lives({ WorldGates });
