/**
 * A rank whose program is written in C, before the program is there: it has its process and can be talked to. `loadCRank`
 * (load-c-rank.ts) makes a `CRank` of it.
 */
import { readFileSync } from "node:fs";
import type { MessagePort } from "node:worker_threads";
import { type CrashedProgram, endingOfCrash } from "../../abi/crash/crash.ts";
import { Ended } from "../../abi/ended.ts";
import type { Ending } from "../../core/service/ending.ts";
import { bellOf } from "../messages/node-words.ts";
import type { FromRank, RankSetup } from "../messages/rank-messages.ts";
import { LineWriter } from "../output/line-ring.ts";
import { endingOfError } from "../rank/error-report.ts";
import type { LateCache } from "../rank/late-cache.ts";
import { RankInbox } from "../rank/rank-inbox.ts";
import { mayRead } from "../rank/rank-input.ts";
import { protocolOf, type RankProtocol } from "../rank/rank-protocol.ts";
import { rankSpawner } from "../rank/rank-spawner.ts";
import { type InputPlace, newInputPlace } from "./c-library.ts";
import { type CRankProcess, createCRank } from "./c-rank-process.ts";

/** `off`: all calls of C programs go through the engine. */
const planeSwitch = "BANYAN_DATA_PLANE";

interface WaitingCRankOptions {
  readonly setup: RankSetup;
  readonly port: MessagePort;
  /** Where the rank shares its thread: asked in its waits, see `CoroutineHost`. Null: it is alone. */
  readonly mustGiveWay: ((rank: WaitingCRank, isOver: () => boolean) => boolean) | null;
  readonly lateCache: LateCache | null;
  /** Called when an MPI_Abort has been reported. */
  abort(): never;
}

export class WaitingCRank {
  readonly setup: RankSetup;
  readonly process: CRankProcess;
  readonly protocol: RankProtocol;
  readonly inbox: RankInbox;
  readonly lines: LineWriter;
  readonly input: InputPlace;
  readonly takesTurns: boolean;
  /** Set when the program is there. */
  program: CrashedProgram = { stackPointer: undefined, lines: () => undefined };
  readonly #port: MessagePort;
  #lateCache: LateCache | null;

  constructor({ setup, port, mustGiveWay, lateCache, abort }: WaitingCRankOptions) {
    this.setup = setup;
    this.#port = port;
    this.#lateCache = lateCache;
    this.inbox = new RankInbox(port, setup.programMemories);
    this.takesTurns = mustGiveWay !== null;
    this.lines = new LineWriter(setup.lines, bellOf(setup.words));
    this.protocol = protocolOf(setup, (message) => this.say(message));
    this.input = newInputPlace(mayRead(setup, this.protocol));
    const { layer } = this.protocol;
    const survivesDeaths = this.protocol.definition.deaths === "survived" || layer !== null;
    this.process = createCRank(
      {
        rank: setup.rank,
        ranks: setup.ranks,
        replicas: setup.replicas,
        hostName: setup.hostName,
        placement: setup.placement,
        places: setup.places,
        nodeMap: setup.nodeMap,
        incarnation: setup.incarnation,
        incarnations: setup.recovery?.incarnations ?? [],
        deaths: setup.deaths,
        protocol: this.protocol.protocol,
        mayUseBoards: this.protocol.mayUseBoards,
        survivesDeaths,
        isLayered: layer !== null,
        mayMeetPastLayer: this.protocol.mayMeetPastLayer,
        recorder: this.protocol.recorder,
        napper: this.protocol.napper,
        set: this.protocol.set,
        memory: setup.memory,
        handover: setup.handover,
        whereabouts: setup.whereabouts,
        tell: (message) => this.say(message),
        traceFile: setup.traceFile,
        takesTurns: this.takesTurns,
        mayUsePlane: setup.watch === null && process.env[planeSwitch] !== "off",
        abort: (code, message, members) => {
          this.say({ kind: "abort", code, message, members });
          // The node ends the others; ranks that share this thread and are no members go on.
          if (members.length > 0 && survivesDeaths) throw new Ended({ kind: "exited", code });
          return abort();
        },
        buried() {
          throw new Ended({ kind: "vanished", code: 1 });
        },
        result() {},
        checkpoint() {},
        restored: () => null,
        spawner: rankSpawner(setup, this.protocol.definition.refusals.spawn, {
          say: (message) => this.say(message),
          settle: (isOver) => this.process.host.settle(isOver),
          nextAnswer: () => this.inbox.nextAnswer(),
        }),
      },
      {
        layer,
        memoryOf: (place) => this.inbox.memoryOf(place),
        mustGiveWay: mustGiveWay === null ? null : (isOver) => mustGiveWay(this, isOver),
      },
    );
  }

  say(message: FromRank): void {
    this.#port.postMessage(message);
  }

  /** The program is over, or the rank. */
  sayCompiled(): void {
    const made = this.#lateCache?.make(this.#programBytes());
    this.#lateCache = null;
    if (made !== undefined) this.say({ kind: "compiled", ...made });
  }

  /** Null: its file is gone, which is nobody's fault by now. */
  #programBytes(): Uint8Array | null {
    try {
      return readFileSync(this.setup.program.bundle.wasm);
    } catch {
      return null;
    }
  }

  sayEnding(ending: Ending): void {
    this.sayCompiled();
    this.say({ kind: "ending", ending });
  }

  /** The ending that `act` returns, or that its error makes. */
  ending<T extends Ending | null>(act: () => T): T | Ending {
    try {
      return act();
    } catch (error) {
      return this.endingOf(error);
    }
  }

  /** The program, or something of ours, has thrown that. */
  endingOf(error: unknown): Ending {
    this.process.close();
    return endingOfCrash(error, this.program) ?? endingOfError(error);
  }
}
