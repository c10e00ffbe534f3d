/** `mpi.checkpoint` of a rank that can be started again, and how a rank begins with what it left. */
import { join } from "node:path";
import { roleOf } from "../../core/base/players.ts";
import type { SeededRandom } from "../../core/base/seeded-random.ts";
import { noClone } from "../../core/ft/clones.ts";
import type { Cloning } from "../../core/ft/protocol.ts";
import { ImageError } from "../../image/image-error.ts";
import { StateError } from "../../image/state/state-error.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import type { FromRank, RankRecovery, RankSetup } from "../messages/rank-messages.ts";
import type { LinePlaces } from "../output/line-ring.ts";
import type { RankHost } from "../process/rank-host.ts";
import { checkpointOf, Stop, stopKind } from "../transport/layout.ts";
import { becomeQuiet, becomeSource } from "./become-quiet.ts";
import type { SteadyClock } from "./rank-globals.ts";
import { type RankImageOptions, type RankSavedState, readRankImage, takeRankImage } from "./rank-image.ts";
import type { RankProtocol } from "./rank-protocol.ts";

interface RankCheckpointsOptions {
  readonly setup: RankSetup;
  readonly recovery: RankRecovery;
  readonly protocol: RankProtocol;
  readonly host: RankHost;
  readonly lines: LinePlaces;
  readonly random: SeededRandom;
  readonly steady: SteadyClock;
  say(message: FromRank): void;
  /** How much of standard input the program has taken. */
  inputTaken(): number;
}

export class RankCheckpoints {
  readonly #options: RankCheckpointsOptions;
  readonly #life: RankSavedState;

  constructor(options: RankCheckpointsOptions) {
    this.#options = options;
    this.#life = {
      lines: options.lines,
      random: options.random,
      clock: { nowS: 0, steadyMs: 0 },
      input: { offset: 0 },
      awaits: options.host.awaits,
      program: { state: null },
    };
  }

  /** The value that the program gave to the checkpoint that it goes on from. */
  get restored(): Uint8Array | null {
    return this.#life.program.state;
  }

  get inputOffset(): number {
    return this.#life.input.offset;
  }

  /** Before the program begins. */
  begin(): void {
    const { recovery, host, steady, say } = this.#options;
    const { restart, imageFolder } = recovery;
    if (restart === null || imageFolder === "") return;
    try {
      readRankImage(host.process, this.#life, this.#imageIn(imageFolder));
    } catch (error) {
      if (!(error instanceof ImageError || error instanceof StateError)) throw error;
      // Its set will begin again with an older one; this life is over.
      say({ kind: "image-unreadable", checkpoint: restart.checkpoint, problem: error.message });
      host.settle(() => false);
    }
    const { nowS, steadyMs } = this.#life.clock;
    host.moveClockTo(nowS);
    steady.moveClockTo(steadyMs);
  }

  /** Returns when the images of the rank's set are written, or given up. */
  take(state: Uint8Array): void {
    const { host, protocol, setup, say } = this.#options;
    say({ kind: "checkpoint-wanted", incarnation: setup.incarnation });
    host.waitUntil(() => false);
    const stoppedMs = steadyMs();
    const cloning = host.process.protocol?.cloning ?? null;
    if (cloning !== null) this.#beSource(cloning, state, stoppedMs);
    else if (becomeQuiet(host, protocol.members)) this.#write(state, steadyMs() - stoppedMs);
    else return;
    host.standStill(() => stopKind(host.wanted) !== Stop.STOP);
    host.process.collectives.arriveAgain();
  }

  /** The image is for a lost replica of the rank, if one shall come back from this process, and it can be taken now. */
  #beSource(cloning: Cloning, state: Uint8Array, stoppedMs: number): void {
    const { host, protocol, say } = this.#options;
    const number = checkpointOf(host.wanted);
    say({ kind: "stopped", number });
    if (number === noClone) return;
    if (becomeSource(host, cloning, protocol.members ?? [])) this.#write(state, steadyMs() - stoppedMs);
    // Not now: the program goes on, and comes to its next checkpoint.
    else say({ kind: "stopped", number });
  }

  #write(state: Uint8Array, settledMs: number): void {
    const { host, recovery, setup, say, steady, inputTaken } = this.#options;
    const number = checkpointOf(host.wanted);
    const folder = join(recovery.checkpointFolder, `set-${recovery.setOf[setup.rank]}`, String(number));
    const { clock, input } = this.#life;
    Object.assign(clock, { nowS: host.now(), steadyMs: steady.now() });
    input.offset = inputTaken();
    const { protocol: itsProtocol } = host.process;
    const position = itsProtocol?.captured(number) ?? 0;
    // A Buffer is of Node alone; an image holds plain bytes.
    const life = { ...this.#life, program: { state: Uint8Array.from(state) } };
    let problem = "";
    try {
      takeRankImage(host.process, life, this.#imageIn(folder));
    } catch (error) {
      if (!(error instanceof ImageError || error instanceof StateError)) throw error;
      problem = error.message;
    }
    const callsPassed = itsProtocol?.callsPassed ?? 0;
    const facts = { number, position, callsPassed, inputOffset: input.offset, settledMs, needs: [], sent: [] };
    say(problem === "" ? { kind: "captured", ...facts } : { kind: "image", problem, ...facts });
  }

  #imageIn(folder: string): RankImageOptions {
    const { setup } = this.#options;
    const { rank, ranks, program } = setup;
    // A clone goes on from the image of another process that plays its rank.
    return { folder, rank, role: roleOf(setup).rank, ranks, program: program.path };
  }
}
