/**
 * Worlds under message logging that are written down, for tests that want one certain situation: nothing is left to chance, and
 * every entry of the fault plan must have been carried out. What a test says it has reached it asks of the outcome's counts.
 */
import { equal, ok } from "node:assert/strict";
import { ANY_SOURCE } from "../../../core/base/constants.ts";
import { parsePlan } from "../../../core/fault/parse.ts";
import type { LoggingOptions, LoggingProtocol } from "../../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../../core/ft/protocol.ts";
import { SendMode } from "../../../core/request/records.ts";
import type { CostModel } from "../../cost-model.ts";
import { Draft } from "../../generator/draft.ts";
import { Random } from "../../random.ts";
import type { ActionTime } from "../../recovery/recovering-run.ts";
import { SimPlannedFaults } from "../../recovery/sim-planned-faults.ts";
import type { CollectivePlan } from "../../script/collective-plan.ts";
import type { Script } from "../../script/script.ts";
import { type LoggingOutcome, runLogging } from "../run-logging.ts";

export interface Scenario {
  readonly nodes: number;
  /** One for each node unless given. */
  readonly setOf?: readonly number[];
  readonly program: Script;
  readonly faults: string;
  /** See `LoggingSetup`. */
  readonly loggerKeeps?: boolean;
  /** What a crash of the event logger does to its store: nothing unless given. */
  readonly store?: "torn" | "damaged";
  /** The program ends its own node whenever that rank is about to do that action. */
  readonly crashesAt?: ActionTime;
  /** None: nobody has images. */
  readonly checkpoints?: readonly ActionTime[];
  /** Sets whose newest image cannot be read, once for each time it stands here. */
  readonly corrupt?: readonly number[];
  readonly patienceNs?: number;
  readonly logBytesMax?: number;
  readonly cost?: Partial<CostModel>;
  readonly services?: {
    readonly delayNsMax?: number;
    readonly detectionNs?: number;
    readonly restartNs?: number;
    /** See `Services`. */
    readonly suspectsWakeNsMax?: number;
    readonly noticeNsMax?: number;
  };
  readonly sharesInside?: boolean;
  /** Of the world: where there is jitter, another order. */
  readonly seed?: number;
  /** Entries need not have been carried out: of a sweep some come too late. */
  readonly mayMiss?: boolean;
  readonly newProtocol?: (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;
  /** To see what happens while a scenario is being written. */
  readonly listener?: (line: string) => void;
}

const certainCost: Partial<CostModel> = {
  jitterNs: 0,
  inFlightAtCrash: "lost",
  eagerBytesMax: 1000,
  pieceBytesMax: 1000,
};

/** Plays it and looks for violations, without complaining. */
export function play(scenario: Scenario): LoggingOutcome {
  const { nodes, program, faults, corrupt = [], checkpoints } = scenario;
  const { ranks } = program;
  const plan = parsePlan(faults);
  if (typeof plan === "string") throw new Error(plan);
  const setOf = Array.from({ length: ranks }, (_, rank) => {
    return scenario.setOf?.[rank] ?? Math.floor((rank * nodes) / ranks);
  });
  const corruptLeft = [...corrupt];
  return runLogging({
    world: {
      ranks,
      nodes,
      seed: scenario.seed ?? 1,
      sharesInside: scenario.sharesInside ?? false,
      cost: { ...certainCost, ...scenario.cost },
    },
    setOf,
    script: program,
    newProtocol: scenario.newProtocol,
    listener: scenario.listener,
    crashesAt: scenario.crashesAt,
    loggerKeeps: scenario.loggerKeeps,
    storeFaults: {
      random: new Random(1),
      torn: scenario.store === "torn" ? 1 : 0,
      damaged: scenario.store === "damaged" ? 1 : 0,
    },
    input: { random: new Random(1), delayNsMax: 2_000 },
    checkpoints:
      checkpoints === undefined ? null : { times: checkpoints, patienceNs: scenario.patienceNs ?? 1_000_000_000 },
    services: {
      random: new Random(1),
      delayNsMax: 2_000,
      detectionNs: 5_000,
      restartNs: 5_000,
      ...scenario.services,
    },
    isCorrupt: (set) => {
      const index = corruptLeft.indexOf(set);
      if (index >= 0) corruptLeft.splice(index, 1);
      return index >= 0;
    },
    logBytesMax: scenario.logBytesMax ?? null,
    trouble: (world, ports) => new SimPlannedFaults(plan, { seed: 1, world, setOf }, ports),
  });
}

/** Plays it: nothing may be violated, and everything in the plan must have happened. */
export function survive(scenario: Scenario): LoggingOutcome {
  const outcome = play(scenario);
  equal(
    outcome.violations.length,
    0,
    `${scenario.faults}: ${outcome.violations[0]?.invariant}: ${outcome.violations[0]?.what}`,
  );
  if (scenario.mayMiss !== true) {
    ok(
      outcome.fired.every((times) => times > 0),
      `${scenario.faults}: carried out ${outcome.fired.join(", ")} times`,
    );
  }
  return outcome;
}

/** Programs in a few words. Every call is an action, and so a call of the plan, of the ranks that it names. */
export class ScenarioProgram {
  readonly #draft: Draft;
  readonly #ranks: number;
  #tags = 1;

  constructor(ranks: number) {
    this.#ranks = ranks;
    this.#draft = new Draft(new Random(1), { ranks, eagerBytesMax: 1000 });
  }

  get script(): Script {
    return this.#draft.script();
  }

  compute(rank: number, forNs: number): this {
    this.#draft.act(rank, { kind: "compute", forNs });
    return this;
  }

  /** One blocking message. */
  send(from: number, to: number, bytes = 8, mode: SendMode = SendMode.STANDARD): this {
    const message = this.#message(from, to, this.#tags++, bytes, mode);
    this.#sendOf(from, message, mode);
    this.#draft.act(to, { kind: "receive-now", receive: this.#draft.receiveOf(message) });
    return this;
  }

  /** One message whose receive is posted before the receiver computes, and waited for afterwards. */
  sendWhileComputing(from: number, to: number, bytes: number, forNs: number): this {
    const draft = this.#draft;
    const message = this.#message(from, to, this.#tags++, bytes, SendMode.STANDARD);
    const request = draft.newRequest(to);
    draft.act(to, { kind: "receive", receive: draft.receiveOf(message), request });
    draft.act(from, { kind: "send-now", message });
    draft.act(to, { kind: "compute", forNs });
    draft.act(to, { kind: "wait", requests: [request], inOrder: true });
    return this;
  }

  /**
   * One message: its receiver posts the receive, or waits for a probe to find the message; then comes what `between` says, with the message itself
   * where that calls `send`; then the receiver waits for the receive.
   */
  sendAround(from: number, to: number, how: "posted" | "probed", between: (send: () => void) => void): this {
    const draft = this.#draft;
    const message = this.#message(from, to, this.#tags++, 8, SendMode.STANDARD);
    const receive = draft.receiveOf(message);
    const request = draft.newRequest(to);
    if (how === "posted") draft.act(to, { kind: "receive", receive, request });
    else draft.act(to, { kind: "set-aside", receive });
    between(() => draft.act(from, { kind: "send-now", message }));
    if (how === "probed") draft.act(to, { kind: "receive-aside", receive, request });
    draft.act(to, { kind: "wait", requests: [request], inOrder: true });
    return this;
  }

  /** One message whose sender starts the send, and waits for it after what `between` says; only then it is received. */
  sendMeanwhile(from: number, to: number, bytes: number, between: () => void): this {
    const draft = this.#draft;
    const message = this.#message(from, to, this.#tags++, bytes, SendMode.STANDARD);
    const request = draft.newRequest(from);
    draft.act(from, { kind: "send", message, request });
    between();
    draft.act(to, { kind: "receive-now", receive: draft.receiveOf(message) });
    draft.act(from, { kind: "wait", requests: [request], inOrder: true });
    return this;
  }

  /** Both post a receive, send, and wait for the receive. */
  exchange(one: number, other: number, bytes: number): this {
    const draft = this.#draft;
    const tag = this.#tags++;
    const sides = [one, other].map((at) => ({ at, request: draft.newRequest(at) }));
    const messages = [this.#message(other, one, tag, bytes, SendMode.STANDARD)];
    messages.push(this.#message(one, other, tag, bytes, SendMode.STANDARD));
    for (const [i, { at, request }] of sides.entries()) {
      draft.act(at, { kind: "receive", receive: draft.receiveOf(messages[i]!), request });
    }
    for (const [i, { at }] of sides.entries()) draft.act(at, { kind: "send-now", message: messages[1 - i]! });
    for (const { at, request } of sides) draft.act(at, { kind: "wait", requests: [request], inOrder: true });
    return this;
  }

  /** Both send, then receive. */
  cross(one: number, other: number, bytes: number): this {
    const draft = this.#draft;
    const tag = this.#tags++;
    const there = this.#message(one, other, tag, bytes, SendMode.STANDARD);
    const back = this.#message(other, one, tag, bytes, SendMode.STANDARD);
    draft.act(one, { kind: "send-now", message: there });
    draft.act(other, { kind: "send-now", message: back });
    draft.act(one, { kind: "receive-now", receive: draft.receiveOf(back) });
    draft.act(other, { kind: "receive-now", receive: draft.receiveOf(there) });
    return this;
  }

  /** As many receives from any source as there are senders: which takes which is chance. Each has a tag of its own unless given. */
  gather(senders: readonly number[], to: number, bytes = 8, tag = this.#tags++): this {
    const draft = this.#draft;
    const messages = senders.map((from) => this.#message(from, to, tag, bytes, SendMode.STANDARD));
    for (const [i, from] of senders.entries()) draft.act(from, { kind: "send-now", message: messages[i]! });
    for (const _ of senders) {
      const plan = { communicator: 0, at: to, source: ANY_SOURCE, tag, room: bytes, lent: false, mayTake: messages };
      draft.act(to, { kind: "receive-now", receive: draft.receive(plan) });
    }
    return this;
  }

  /** A nonblocking collective: all start it, then comes what `between` says, then all wait for it. */
  collectiveAround(kind: CollectivePlan["kind"], root: number, between: () => void): this {
    const draft = this.#draft;
    const collective = draft.collective({
      communicator: 0,
      kind,
      root,
      count: 1,
      shape: 0,
      inPlace: false,
      reduction: "sum",
      lent: false,
    });
    const all = Array.from({ length: this.#ranks }, (_, rank) => ({ rank, request: draft.newRequest(rank) }));
    for (const { rank, request } of all) draft.act(rank, { kind: "collective", collective, request });
    between();
    for (const { rank, request } of all) draft.act(rank, { kind: "wait", requests: [request], inOrder: true });
    return this;
  }

  /** The same, with receives that are posted before all of them compute, and waited for afterwards, in order. */
  gatherWhileComputing(senders: readonly number[], to: number, forNs: number): this {
    const draft = this.#draft;
    const tag = this.#tags++;
    const messages = senders.map((from) => this.#message(from, to, tag, 8, SendMode.STANDARD));
    const requests = senders.map(() => draft.newRequest(to));
    for (const request of requests) {
      const plan = { communicator: 0, at: to, source: ANY_SOURCE, tag, room: 8, lent: false, mayTake: messages };
      draft.act(to, { kind: "receive", receive: draft.receive(plan), request });
    }
    draft.act(to, { kind: "compute", forNs });
    for (const from of senders) draft.act(from, { kind: "compute", forNs: forNs - 1_000 });
    for (const [i, from] of senders.entries()) draft.act(from, { kind: "send-now", message: messages[i]! });
    draft.act(to, { kind: "wait", requests, inOrder: true });
    return this;
  }

  #message(from: number, to: number, tag: number, bytes: number, mode: SendMode): number {
    return this.#draft.message({ communicator: 0, from, to, tag, bytes, mode, lent: false });
  }

  #sendOf(from: number, message: number, mode: SendMode): void {
    const draft = this.#draft;
    if (mode === SendMode.STANDARD) {
      draft.act(from, { kind: "send-now", message });
      return;
    }
    const request = draft.newRequest(from);
    draft.act(from, { kind: "send", message, request });
    draft.act(from, { kind: "wait", requests: [request], inOrder: true });
  }
}

/**
 * Four ranks, 0 and 1 in one set, 2 and 3 in the other. In each round both sides receive from any source, inside the set and from
 * the other one, and what they have seen goes over the border.
 */
export function rounds(count: number, bytes = 8): Script {
  const program = new ScenarioProgram(4);
  for (let round = 0; round < count; round++) {
    program.gather([0, 1, 3], 2, bytes).compute(2, 2_000).send(2, 0, bytes);
    program.gather([0, 2, 3], 1, bytes).compute(1, 2_000).send(1, 3, bytes);
  }
  return program.script;
}

/** Each set when that rank, its lowest, is about to do these actions. */
export const at = (rank: number, ...actions: readonly number[]): ActionTime[] =>
  actions.map((action) => ({ rank, action }));
