/**
 * Random programs with a known right answer, free of deadlock by construction.
 *
 * A program is one global sequence of events (a message, a group of messages, a collective, …), dealt out to the ranks that
 * take part. Every rank meets its events in the order of the sequence, so the earliest event that is not over can always go
 * on: everybody it needs has come as far. Non-blocking calls wait at some later event; receives may be posted earlier than
 * their event, as long as the receives of one rank keep their order.
 *
 * Which receive takes which message is then known, because messages of a channel keep their order: with a named source also
 * for ANY_TAG. ANY_SOURCE appears in two places where any matching is right: in groups (several messages under a tag of their
 * own, and as many receives from anybody with that tag, posted together) and at the open ranks of a communicator (all
 * receives from anybody with any tag). Sends to those are waited for only at quiet points, where everybody waits for
 * everything and everybody: until then nobody knows when their turn comes.
 */
import { ANY_SOURCE, ANY_TAG } from "../core/base/constants.ts";
import { SendMode } from "../core/request/records.ts";
import { Draft } from "./draft.ts";
import type { Random } from "./random.ts";
import type { CollectivePlan, CommunicatorPlan, Script } from "./script.ts";

export interface GeneratorOptions {
  readonly ranks: number;
  readonly events: number;
  /** Sizes around it are interesting. */
  readonly eagerBytesMax: number;
  /** Somebody will die: only messages between two named ranks, whose end is certain whoever is left. */
  readonly deaths: boolean;
}

const kinds: readonly CollectivePlan["kind"][] = [
  "barrier",
  "bcast",
  "gather",
  "scatter",
  "allgather",
  "alltoall",
  "reduce",
  "allreduce",
  "reduce_scatter_block",
  "scan",
  "exscan",
];

/** Tags of groups and of what is cancelled begin here, each used once; tags of open messages are their numbers, below. */
const firstOwnTag = 1 << 20;

/** Of the ranks that are not open some never say ANY_TAG: only they can be sent what nobody shall take. */
const takesAnyTag = (comm: CommunicatorPlan, rank: number): boolean => (comm.number + rank) % 2 === 0;

export function generate(random: Random, options: GeneratorOptions): Script {
  return new Generator(random, options).script();
}

class Generator {
  readonly #random: Random;
  readonly #options: GeneratorOptions;
  readonly #draft: Draft;
  #nextOwnTag = firstOwnTag;

  constructor(random: Random, options: GeneratorOptions) {
    this.#random = random;
    this.#options = options;
    this.#draft = new Draft(random, options.ranks);
  }

  script(): Script {
    for (let event = 0; event < this.#options.events; event++) {
      this.#event();
      this.#draft.someWaits();
    }
    this.#draft.quiet();
    for (const { number } of this.#draft.communicators.slice(1)) this.#draft.free(number);
    return this.#draft.script();
  }

  #event(): void {
    const random = this.#random;
    const comm = random.pick(this.#draft.communicators);
    if (this.#options.deaths) {
      if (random.chance(0.1)) this.#compute();
      else this.#message(comm);
      return;
    }
    const dice = random.below(100);
    if (dice < 55) this.#message(comm);
    else if (dice < 65) this.#group(comm);
    else if (dice < 80) this.#collective(comm);
    else if (dice < 85) this.#make(comm);
    else if (dice < 88) this.#quiet();
    else if (dice < 95) this.#compute();
    else this.#cancel(comm);
  }

  /** One message between two ranks of a communicator, or from a rank to itself. */
  #message(comm: CommunicatorPlan): void {
    const random = this.#random;
    const draft = this.#draft;
    const from = random.below(comm.members.length);
    const to = random.chance(0.1) ? from : random.below(comm.members.length);
    const open = comm.open.has(to);
    const number = draft.messages.length;
    const tag = open ? number : random.below(4);
    const bytes = this.#bytes();
    draft.message({
      communicator: comm.number,
      from,
      to,
      tag,
      bytes,
      mode: this.#mode(from === to),
      lent: this.#lent(),
    });
    const receive = draft.plan({
      communicator: comm.number,
      at: to,
      source: open ? ANY_SOURCE : from,
      tag: open || (takesAnyTag(comm, to) && random.chance(0.3)) ? ANY_TAG : tag,
      room: open ? this.#bytesMax : bytes + random.below(3),
      lent: this.#lent(),
      mayTake: open ? null : [number],
    });
    // A rank that sends to itself posts the receive first, whatever the mode.
    if (from === to) draft.receives(to, comm.number, [receive], "posted");
    draft.send(number, open ? "until-quiet" : "any-time", from === to);
    if (from !== to) draft.receives(to, comm.number, [receive], "any-way");
  }

  /** Several messages to one rank under one tag, taken in whatever order they come. */
  #group(comm: CommunicatorPlan): void {
    const random = this.#random;
    const draft = this.#draft;
    const to = random.below(comm.members.length);
    if (comm.open.has(to)) return;
    const tag = this.#nextOwnTag++;
    const count = random.between(1, 5);
    const numbers: number[] = [];
    for (let i = 0; i < count; i++) {
      const from = random.below(comm.members.length);
      const bytes = 4 + this.#bytes();
      numbers.push(draft.messages.length);
      draft.message({ communicator: comm.number, from, to, tag, bytes, mode: this.#mode(false), lent: this.#lent() });
    }
    const receives = numbers.map(() =>
      draft.plan({
        communicator: comm.number,
        at: to,
        source: ANY_SOURCE,
        tag,
        room: 4 + this.#bytesMax,
        lent: this.#lent(),
        mayTake: numbers,
      }),
    );
    for (const number of numbers) draft.send(number, "until-quiet", false);
    draft.receives(to, comm.number, receives, "any-way");
  }

  #collective(comm: CommunicatorPlan): void {
    const random = this.#random;
    this.#draft.collective(
      {
        communicator: comm.number,
        kind: random.pick(kinds),
        root: random.below(comm.members.length),
        count: random.pick([0, 1, 2, 7, 64, 700, 5000]),
        reduction: random.pick(["sum", "compose"]),
        lent: this.#lent(),
      },
      "any-time",
    );
  }

  /** A duplicate, or a split by colours and keys; in the new ones some ranks are open. */
  #make(parent: CommunicatorPlan): void {
    if (this.#draft.communicators.length >= 8) return;
    const random = this.#random;
    const draft = this.#draft;
    if (random.chance(0.4)) {
      draft.duplicate(parent, this.#openOf(parent.members.length));
      return;
    }
    const colors = parent.members.map(() => random.between(-1, 2));
    const keys = parent.members.map(() => random.between(-2, 2));
    draft.split(parent, colors, keys, (size) => this.#openOf(size));
  }

  #openOf(size: number): Set<number> {
    const open = new Set<number>();
    for (let rank = 0; rank < size; rank++) if (this.#random.chance(0.3)) open.add(rank);
    return open;
  }

  /** Everybody waits for everything, then for everybody: no message from beyond takes an open receive from this side. */
  #quiet(): void {
    this.#draft.quiet();
    this.#draft.collective(
      { communicator: 0, kind: "barrier", root: 0, count: 0, reduction: "sum", lent: false },
      "blocking",
    );
  }

  #compute(): void {
    this.#draft.act(this.#random.below(this.#options.ranks), {
      kind: "compute",
      forNs: this.#random.below(20_000),
    });
  }

  #cancel(comm: CommunicatorPlan): void {
    const random = this.#random;
    const rank = random.pick(comm.members);
    const tag = this.#nextOwnTag++;
    const peer = random.below(comm.members.length);
    const communicator = comm.number;
    if (random.chance(0.5)) {
      const source = random.chance(0.5) ? ANY_SOURCE : peer;
      this.#draft.act(rank, { kind: "cancel-receive", communicator, source, tag });
    } else if (!comm.open.has(peer) && !takesAnyTag(comm, peer)) {
      this.#draft.act(rank, { kind: "cancel-send", communicator, to: peer, tag, bytes: this.#bytes() });
    }
  }

  #mode(isToSelf: boolean): SendMode {
    // Only a rank that sends to itself can know that the receive is posted.
    const modes = [SendMode.STANDARD, SendMode.STANDARD, SendMode.SYNCHRONOUS, SendMode.BUFFERED];
    return this.#random.pick(isToSelf ? [...modes, SendMode.READY] : modes);
  }

  #bytes(): number {
    const { eagerBytesMax } = this.#options;
    const random = this.#random;
    const sizes = [0, 1, 4, random.below(64), eagerBytesMax, eagerBytesMax + 1, random.below(2 * eagerBytesMax + 100)];
    return random.chance(0.05) ? random.between(20_000, 90_000) : random.pick(sizes);
  }

  get #bytesMax(): number {
    return Math.max(90_000, 2 * this.#options.eagerBytesMax + 100);
  }

  #lent(): boolean {
    return this.#random.chance(0.3);
  }
}
