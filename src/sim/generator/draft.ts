/**
 * A script while it is being made: deals events out to the ranks and sees to it that what is started is waited for, as the
 * rules in generator.ts want it.
 */
import { SendMode } from "../core/request/records.ts";
import type { Random } from "./random.ts";
import type { Action, CollectivePlan, CommunicatorPlan, MessagePlan, ReceivePlan, Script } from "./script.ts";

/** The part of one world rank. */
interface Part {
  readonly actions: Action[];
  /** Requests that may be waited for at any time, and those only at quiet points. */
  open: number[];
  openUntilQuiet: number[];
  requests: number;
  /** Receives must not be posted before this action: those of one rank keep their order. */
  postingFrom: number;
  /** Action after which each communicator is there. */
  readonly hasFrom: Map<number, number>;
}

export class Draft {
  readonly communicators: CommunicatorPlan[] = [];
  readonly messages: MessagePlan[] = [];
  readonly #receives: ReceivePlan[] = [];
  readonly #collectives: CollectivePlan[] = [];
  readonly #random: Random;
  readonly #parts: Part[];

  constructor(random: Random, ranks: number) {
    this.#random = random;
    this.communicators.push({
      number: 0,
      members: Array.from({ length: ranks }, (_, rank) => rank),
      made: { by: "world" },
      open: new Set(),
    });
    this.#parts = Array.from({ length: ranks }, () => ({
      actions: [],
      open: [],
      openUntilQuiet: [],
      requests: 0,
      postingFrom: 0,
      hasFrom: new Map([[0, 0]]),
    }));
  }

  script(): Script {
    return {
      ranks: this.#parts.length,
      communicators: this.communicators,
      messages: this.messages,
      receives: this.#receives,
      collectives: this.#collectives,
      actions: this.#parts.map(({ actions }) => actions),
    };
  }

  act(rank: number, action: Action): void {
    this.#parts[rank]!.actions.push(action);
  }

  message(plan: Omit<MessagePlan, "number">): void {
    this.messages.push({ ...plan, number: this.messages.length });
  }

  plan(plan: Omit<ReceivePlan, "number">): number {
    this.#receives.push({ ...plan, number: this.#receives.length });
    return this.#receives.length - 1;
  }

  /** Its sender sends a message now. A rank that sends to itself waits for the receive, so it must not wait here. */
  send(number: number, waits: "any-time" | "until-quiet", isToSelf: boolean): void {
    const message = this.messages[number]!;
    const part = this.#member(message.communicator, message.from);
    const blocking = waits === "any-time" && !isToSelf && this.#random.chance(0.4);
    if (blocking && message.mode === SendMode.STANDARD && this.#random.chance(0.7)) {
      part.actions.push({ kind: "send-now", message: number });
      return;
    }
    const request = part.requests++;
    part.actions.push({ kind: "send", message: number, request });
    if (blocking) part.actions.push({ kind: "wait", requests: [request], inOrder: true });
    else if (waits === "any-time") part.open.push(request);
    else part.openUntilQuiet.push(request);
  }

  /** A rank receives, one after the other: posted somewhere since its last receive, or now in one of the blocking ways. */
  receives(rank: number, communicator: number, numbers: readonly number[], how: "posted" | "any-way"): void {
    const part = this.#member(communicator, rank);
    const dice = how === "posted" ? 0 : this.#random.below(10);
    if (dice < 6) {
      const earliest = Math.max(part.postingFrom, part.hasFrom.get(communicator)!);
      let at = this.#random.between(earliest, part.actions.length);
      for (const receive of numbers) {
        const request = part.requests++;
        this.#insert(part, at++, { kind: "receive", receive, request });
        part.open.push(request);
      }
      part.postingFrom = at;
      return;
    }
    for (const receive of numbers) {
      if (dice < 8) part.actions.push({ kind: "receive-now", receive });
      else part.actions.push({ kind: "probe", receive, matched: dice === 9 });
    }
    part.postingFrom = part.actions.length;
  }

  collective(plan: Omit<CollectivePlan, "number">, waits: "any-time" | "blocking"): void {
    const number = this.#collectives.length;
    this.#collectives.push({ ...plan, number });
    for (const rank of this.communicators[plan.communicator]!.members) {
      const part = this.#parts[rank]!;
      const request = part.requests++;
      part.actions.push({ kind: "collective", collective: number, request });
      if (waits === "blocking" || this.#random.chance(0.5))
        part.actions.push({ kind: "wait", requests: [request], inOrder: true });
      else part.open.push(request);
    }
  }

  duplicate(parent: CommunicatorPlan, open: ReadonlySet<number>): void {
    const number = this.communicators.length;
    const made = { by: "duplicate", parent: parent.number } as const;
    this.communicators.push({ number, members: parent.members, made, open });
    for (const rank of parent.members) this.#make(rank, parent.number, number, null, 0);
  }

  /** By colour, −1 for none; members of one colour in the order of their keys, then of their ranks. */
  split(
    parent: CommunicatorPlan,
    colors: readonly number[],
    keys: readonly number[],
    openOf: (size: number) => ReadonlySet<number>,
  ): void {
    const numberOf = new Map<number, number>([[-1, -1]]);
    for (const color of [...new Set(colors)].sort((a, b) => a - b)) {
      if (color < 0) continue;
      const ranks = parent.members.map((_, rank) => rank).filter((rank) => colors[rank] === color);
      ranks.sort((a, b) => keys[a]! - keys[b]! || a - b);
      const members = ranks.map((rank) => parent.members[rank]!);
      const number = this.communicators.length;
      numberOf.set(color, number);
      const made = { by: "split", parent: parent.number, color } as const;
      this.communicators.push({ number, members, made, open: openOf(members.length) });
    }
    parent.members.forEach((rank, index) => {
      this.#make(rank, parent.number, numberOf.get(colors[index]!)!, colors[index]!, keys[index]!);
    });
  }

  #make(rank: number, parent: number, communicator: number, color: number | null, key: number): void {
    const part = this.#parts[rank]!;
    part.actions.push({ kind: "make", parent, communicator, color, key });
    part.hasFrom.set(communicator, part.actions.length);
  }

  free(communicator: number): void {
    for (const rank of this.communicators[communicator]!.members) this.act(rank, { kind: "free", communicator });
  }

  /** Now and then a rank waits for some of what it has open. */
  someWaits(): void {
    for (const part of this.#parts) {
      if (part.open.length === 0 || !this.#random.chance(0.15)) continue;
      const requests = this.#random.shuffle(part.open).splice(0, this.#random.between(1, part.open.length));
      part.actions.push({ kind: "wait", requests, inOrder: this.#random.chance(0.5) });
    }
  }

  /** Everybody waits for everything. */
  quiet(): void {
    for (const part of this.#parts) {
      const requests = this.#random.shuffle([...part.open, ...part.openUntilQuiet]);
      part.open = [];
      part.openUntilQuiet = [];
      if (requests.length !== 0) {
        part.actions.push({ kind: "wait", requests, inOrder: this.#random.chance(0.5) });
      }
    }
  }

  #member(communicator: number, rank: number): Part {
    return this.#parts[this.communicators[communicator]!.members[rank]!]!;
  }

  #insert(part: Part, at: number, action: Action): void {
    part.actions.splice(at, 0, action);
    for (const [communicator, from] of part.hasFrom) if (from > at) part.hasFrom.set(communicator, from + 1);
  }
}
