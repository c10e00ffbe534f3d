/**
 * A script in the making: deals events out to the ranks and ensures that every started request is waited for, under the rules
 * in generator.ts.
 */
import { SendMode } from "../../core/request/records.ts";
import type { Random } from "../random.ts";
import type { CollectivePlan } from "../script/collective-plan.ts";
import { type CommunicatorPlan, membersOf } from "../script/communicator-plan.ts";
import type { MessagePlan, ReceivePlan } from "../script/message-plan.ts";
import type { Action, Making, Script } from "../script/script.ts";
import type { SharedFilePhase } from "../script/shared-file-plan.ts";
import { RandomChoices } from "./choices.ts";

/** The part of one rank. */
interface Part {
  readonly actions: Action[];
  /** Requests that may be waited for at any time, and requests that wait for a quiet point. */
  open: number[];
  openUntilQuiet: number[];
  requests: number;
  series: number;
  /** Receives must not be posted before this action: the receives of one rank keep their order. */
  postingFrom: number;
  /** Action after which each communicator exists. */
  readonly hasFrom: Map<number, number>;
}

/** See `SharedFilePlan`. */
export interface SharedFileDraft {
  readonly number: number;
  readonly communicator: number;
  readonly phases: SharedFilePhase[];
  size: number;
}

/** How a receive is posted: somewhere since the rank's last receive, now in a blocking call, or either. */
export type Posting = "posted" | "blocking" | "any-way";

export class Draft {
  readonly random: Random;
  readonly choices: RandomChoices;
  readonly communicators: CommunicatorPlan[] = [];
  readonly #messages: MessagePlan[] = [];
  readonly #receives: ReceivePlan[] = [];
  readonly #collectives: CollectivePlan[] = [];
  readonly #sharedFiles: SharedFileDraft[] = [];
  readonly #parts: Part[];

  /** By communicator and receiver: the tag of the last group of messages, and how many quiet points were before it. */
  readonly #groupTags = new Map<string, { readonly tag: number; readonly after: number }>();
  #quietPoints = 0;

  /** See `GeneratorOptions`. */
  readonly mayCancelSend: ((from: number, to: number) => boolean) | null;
  readonly takesAnySource: boolean;
  /** Can a rank die, or leave the program when others do? */
  readonly hasDeaths: boolean;

  constructor(
    random: Random,
    options: {
      readonly ranks: number;
      readonly eagerBytesMax: number;
      readonly mayCancelSend?: (from: number, to: number) => boolean;
      readonly takesAnySource?: boolean;
      readonly hasDeaths?: boolean;
    },
  ) {
    this.random = random;
    this.mayCancelSend = options.mayCancelSend ?? null;
    this.takesAnySource = options.takesAnySource ?? true;
    this.hasDeaths = options.hasDeaths ?? false;
    this.choices = new RandomChoices(random, options.eagerBytesMax);
    const all = Array.from({ length: options.ranks }, (_, rank) => rank);
    this.communicators.push({ number: 0, groups: [all], topology: null, open: new Set() });
    this.#parts = all.map(() => ({
      actions: [],
      open: [],
      openUntilQuiet: [],
      requests: 0,
      series: 0,
      postingFrom: 0,
      hasFrom: new Map([[0, 0]]),
    }));
  }

  get ranks(): number {
    return this.#parts.length;
  }

  script(): Script {
    return {
      ranks: this.ranks,
      communicators: this.communicators,
      messages: this.#messages,
      receives: this.#receives,
      collectives: this.#collectives,
      sharedFiles: this.#sharedFiles,
      actions: this.#parts.map(({ actions }) => actions),
    };
  }

  // Plans, by number

  get nextMessage(): number {
    return this.#messages.length;
  }

  message(plan: Omit<MessagePlan, "number">): number {
    this.#messages.push({ ...plan, number: this.#messages.length });
    return this.#messages.length - 1;
  }

  /** A receive that takes this message and no other. */
  receiveOf(message: number, plan: Partial<Pick<ReceivePlan, "source" | "tag">> = {}): number {
    const { communicator, from, to, tag, bytes } = this.#messages[message]!;
    const room = bytes + this.random.below(3);
    const lent = this.choices.lent();
    return this.receive({ communicator, at: to, source: from, tag, room, lent, mayTake: [message], ...plan });
  }

  receive(plan: Omit<ReceivePlan, "number">): number {
    this.#receives.push({ ...plan, number: this.#receives.length });
    return this.#receives.length - 1;
  }

  collective(plan: Omit<CollectivePlan, "number">): number {
    this.#collectives.push({ ...plan, number: this.#collectives.length });
    return this.#collectives.length - 1;
  }

  collectivePlan(number: number): CollectivePlan {
    return this.#collectives[number]!;
  }

  /** A file for the members of that communicator; its phases are still to come. */
  sharedFile(communicator: number): SharedFileDraft {
    const file = { number: this.#sharedFiles.length, communicator, phases: [], size: 0 };
    this.#sharedFiles.push(file);
    return file;
  }

  // What ranks do

  act(rank: number, action: Action): void {
    this.#parts[rank]!.actions.push(action);
  }

  newRequest(rank: number): number {
    return this.#parts[rank]!.requests++;
  }

  newSeries(rank: number): number {
    return this.#parts[rank]!.series++;
  }

  /** The rank will wait for the request some time, unless told otherwise. */
  leaveOpen(rank: number, request: number): void {
    this.#parts[rank]!.open.push(request);
  }

  /** The rank waits for these now, or has done so already. */
  settle(rank: number, requests: readonly number[]): void {
    const part = this.#parts[rank]!;
    const left = requests.filter((request) => part.open.includes(request));
    part.open = part.open.filter((request) => !left.includes(request));
    if (left.length > 0) part.actions.push({ kind: "wait", requests: left, inOrder: this.random.chance(0.5) });
  }

  /** The sender of the message sends now. A rank that sends to itself waits for the receive, so it must not wait here. */
  send(number: number, waits: "any-time" | "until-quiet"): void {
    const { from, to, mode } = this.#messages[number]!;
    const part = this.#parts[from]!;
    if (mode === SendMode.BUFFERED) {
      part.actions.push({ kind: "send-copy", message: number });
      return;
    }
    const blocking = waits === "any-time" && from !== to && this.random.chance(0.4);
    if (blocking && mode === SendMode.STANDARD && this.random.chance(0.7)) {
      part.actions.push({ kind: "send-now", message: number });
      return;
    }
    const request = part.requests++;
    part.actions.push({ kind: "send", message: number, request });
    if (blocking) part.actions.push({ kind: "wait", requests: [request], inOrder: true });
    else if (waits === "any-time") part.open.push(request);
    else part.openUntilQuiet.push(request);
  }

  /** The receives of a rank, one after the other, all in the same way. */
  receives(numbers: readonly number[], how: Posting): void {
    const { at: rank, communicator } = this.#receives[numbers[0]!]!;
    const part = this.#parts[rank]!;
    const dice = how === "posted" ? 0 : this.random.between(how === "blocking" ? 6 : 0, 9);
    if (dice < 6) {
      const earliest = Math.max(part.postingFrom, part.hasFrom.get(communicator)!);
      let at = this.random.between(earliest, part.actions.length);
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
    this.keepOrder(rank);
  }

  /** The rank's last action is a receive: none may be posted before it any more. */
  keepOrder(rank: number): void {
    const part = this.#parts[rank]!;
    part.postingFrom = part.actions.length;
  }

  // Communicators

  /** A new communicator, which its members then have to make. */
  communicator(plan: Omit<CommunicatorPlan, "number" | "open">): number {
    const number = this.communicators.length;
    const open = plan.groups.flat().filter(() => this.random.chance(0.3));
    this.communicators.push({ ...plan, number, open: new Set(this.takesAnySource ? open : []) });
    return number;
  }

  /** A rank takes part in making a communicator; −1: one of which it is no member. */
  make(rank: number, communicator: number, how: Making): void {
    const part = this.#parts[rank]!;
    part.actions.push({ kind: "make", communicator, how });
    part.hasFrom.set(communicator, part.actions.length);
  }

  free(comm: CommunicatorPlan): void {
    for (const rank of membersOf(comm)) this.act(rank, { kind: "free", communicator: comm.number });
  }

  // Waiting

  /** Now and then a rank waits for some of its open requests. */
  someWaits(): void {
    for (const part of this.#parts) {
      if (part.open.length === 0 || !this.random.chance(0.15)) continue;
      const requests = this.random.shuffle(part.open).splice(0, this.random.between(1, part.open.length));
      part.actions.push({ kind: "wait", requests, inOrder: this.random.chance(0.5) });
    }
  }

  /**
   * A tag for a group of messages to one rank: that of an earlier group, if there is a quiet point between the two. So programs rely on it
   * that nobody can be beyond such a point before all have come to it.
   */
  groupTag(communicator: number, to: number): number {
    const key = `${communicator} ${to}`;
    const last = this.#groupTags.get(key);
    const tag = last !== undefined && last.after < this.#quietPoints ? last.tag : this.choices.ownTag();
    this.#groupTags.set(key, { tag, after: this.#quietPoints });
    return tag;
  }

  /** All ranks have waited for each other, and for all requests. */
  passQuietPoint(): void {
    this.#quietPoints++;
  }

  /** Every rank waits for all its requests. */
  quiet(): void {
    for (const part of this.#parts) {
      const requests = this.random.shuffle([...part.open, ...part.openUntilQuiet]);
      part.open = [];
      part.openUntilQuiet = [];
      if (requests.length !== 0) {
        part.actions.push({ kind: "wait", requests, inOrder: this.random.chance(0.5) });
      }
    }
  }

  #insert(part: Part, at: number, action: Action): void {
    part.actions.splice(at, 0, action);
    for (const [communicator, from] of part.hasFrom) if (from > at) part.hasFrom.set(communicator, from + 1);
  }
}
