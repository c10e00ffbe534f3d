/**
 * What each process under a leader has seen, as a running hash, and the value of that hash when it sent each message. A program that is not
 * send-deterministic could send the hash: so under one number all replicas of a rank must have the same, as soon as one of them has put
 * the message on its way, and in the end.
 */
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { isOfProgram } from "../../core/ft/send-record/send-log.ts";
import type { EngineTracer } from "../../core/p2p/engine.ts";
import { Went } from "../../core/request/decisions.ts";
import type { Witness } from "../interpreter/script-state.ts";
import type { Violation } from "../judge.ts";
import { mixed } from "../script/mixed-number.ts";
import type { World } from "../world.ts";

export class LedHistories {
  readonly #ranks: number;
  /** By process. */
  readonly #now: number[] = [];
  readonly #posted = new Map<string, number>();
  /** By message: what the first replica that sent it had seen. */
  readonly #sent = new Map<string, number>();
  readonly #violations: Violation[] = [];

  constructor(ranks: number) {
    this.#ranks = ranks;
  }

  witness(process: number): Witness {
    this.#now[process] = process % this.#ranks;
    return {
      observe: (...numbers) => {
        this.#now[process] = mixed(this.#now[process]!, ...numbers);
      },
      history: () => this.#now[process]!,
      passes: () => false,
    };
  }

  tracer(process: number): EngineTracer {
    return {
      sent: (dest, _tag, _bytes, sequence) => {
        this.#posted.set(`${process} ${dest} ${sequence}`, this.#now[process]!);
      },
      matched() {},
    };
  }

  /** The ports of a process, watched. */
  watch(process: number, ports: ProtocolPorts): ProtocolPorts {
    const watched = Object.create(ports) as ProtocolPorts;
    watched.transmit = (message, keeper) => {
      const went = ports.transmit(message, keeper);
      const { context, dest, sequence } = message;
      if (went !== Went.NOWHERE && isOfProgram(context)) this.#left(process, dest, sequence);
      return went;
    };
    return watched;
  }

  #left(process: number, dest: number, sequence: number): void {
    // A message may leave while it is being posted.
    const history = this.#posted.get(`${process} ${dest} ${sequence}`) ?? this.#now[process]!;
    const name = `message ${sequence} of rank ${process % this.#ranks} to ${dest}`;
    const first = this.#sent.get(name);
    if (first === undefined) this.#sent.set(name, history);
    else if (first !== history)
      this.#violations.push({ invariant: "replicas see the same", what: `${name} has two histories` });
  }

  /** `replicas` by rank: those that live have all come to the same end. */
  judge(world: World): Violation[] {
    const ends = new Map<number, number>();
    for (const { number, rank, state } of world.processes) {
      if (state === "dead") continue;
      const end = ends.get(rank);
      if (end === undefined) ends.set(rank, this.#now[number]!);
      else if (end !== this.#now[number])
        this.#violations.push({ invariant: "replicas see the same", what: `rank ${rank} has two ends` });
    }
    return this.#violations;
  }
}
