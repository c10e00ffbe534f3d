/**
 * The node, when it has been set up: an operating-system process that hosts ranks as threads. Its main thread starts and watches
 * the threads, carries their output, and gives signs of life; it does nothing that takes long.
 */
import { unreachable } from "../../core/base/assert.ts";
import { onBell, onQuietBell } from "../machine/bell.ts";
import { build, type RunProgram, type Setup, type ToNode } from "../messages/node-messages.ts";
import { bellOf, quietBellOf } from "../messages/node-words.ts";
import { Stop } from "../transport/layout.ts";
import { type AgentOptions, AgentParts } from "./agent-parts.ts";
import { rankEvents } from "./rank-reports.ts";
import { RankStarts } from "./rank-starts.ts";

/** Threads that have not stopped by then are stuck in native code, and only the end of the process stops them. */
const terminateMsMax = 1000;

/** Ranks that wait so long for the others at their end are told of: those others may wait for them. */
const overMs = 500;

export class Agent {
  readonly #options: AgentOptions;
  readonly #node: AgentParts;
  readonly #starts: RankStarts;
  #leaving = false;

  /** Throws a `RangeError` where its memory cannot be had. */
  constructor(setup: Setup, options: AgentOptions) {
    this.#options = options;
    process.title = `banyan-node ${setup.node}`;
    const node = new AgentParts(setup, options, rankEvents);
    this.#node = node;
    this.#starts = new RankStarts(node);
    setInterval(() => this.#beat(), node.setup.heartbeatMs);
    this.#starts.beginFirst();
    const { part, relay } = node;
    const { words } = node.threads;
    if (part !== null) void onQuietBell(quietBellOf(words), () => part.relay());
    void onBell(bellOf(words), () => {
      part?.relay();
      relay.relay();
    });
    void this.#getReady();
  }

  /** Its machine is about to go: the ranks should be elsewhere. */
  wantToLeave(): void {
    this.#node.send({ kind: "leaving" });
  }

  async #getReady(): Promise<void> {
    const listening = await this.#node.tcp?.listen();
    if (listening?.ok === false) this.#node.send({ kind: "unable", why: listening.reason });
    else {
      const address = listening === undefined ? null : { host: this.#options.host, port: listening.port };
      this.#node.send({ kind: "ready", build, address });
    }
  }

  handle(message: ToNode): void {
    switch (message.kind) {
      case "reserve":
      case "reserve-memory":
      case "setup":
      case "dismissed":
        throw new Error(`Banyan is wrong here: an agent is told "${message.kind}". Please report it.`);
      case "contacts":
        this.#node.tcp?.setAddressBook(message.addresses);
        break;
      case "run":
        this.#run(message);
        break;
      case "start-ranks":
        this.#starts.begin(message);
        break;
      case "end-ranks":
        this.#node.threads.end(message.ranks);
        break;
      case "spawn-answer":
        this.#node.threads.get(message.rank)?.post(message);
        this.#node.memory.ring(this.#node.memory.placeOf(message.rank));
        break;
      case "written":
        this.#node.relay.written(message.bytes);
        break;
      case "input":
        this.#node.threads.get(message.rank)?.post(message);
        this.#node.memory.ring(this.#node.memory.placeOf(message.rank));
        break;
      case "death":
        this.#node.memory.death(message);
        if (!this.#node.isHere(message.rank)) this.#node.tcp?.peerFailed(message.rank);
        break;
      case "left":
        this.#node.memory.left(message.rank);
        break;
      case "returned":
        // Connections first: a rank that hears of a new life may talk to it at once.
        for (const { rank, incarnation } of message.ranks) {
          this.#node.tcp?.peerReturned(rank, incarnation);
          this.#node.lives?.returned({ rank, incarnation });
        }
        for (const life of message.ranks) this.#node.memory.returned(life);
        break;
      case "freeze":
        for (const rank of this.#node.threads.ranks) this.#node.memory.stop(rank, Stop.STOP);
        break;
      case "frozen":
        for (const rank of this.#node.threads.ranks) this.#node.memory.stop(rank, message.isGood ? Stop.END : Stop.NO);
        break;
      case "protocol":
        this.#node.part?.said(message.words);
        break;
      case "checkpoint":
        this.#node.images?.prepare(message.set, message.number);
        for (const rank of message.members) this.#node.memory.stopFor(rank, message.number, message.kept);
        break;
      case "checkpoint-servers":
        this.#node.images?.serversAre(message.addresses);
        break;
      case "go-on":
        for (const rank of message.members) this.#node.memory.stop(rank, Stop.NO);
        break;
      case "oldest":
        this.#node.part?.trim(message.set, message.position);
        this.#node.images!.committed(message.set);
        this.#node.memory.oldest(message.set, message.number);
        break;
      case "restart-ranks":
        void this.#starts.restart(message);
        break;
      case "give-clone":
        this.#node.clones!.give(message.rank, message);
        break;
      case "take-clone":
        this.#node.clones!.take(message.rank, message);
        break;
      case "drop-clone":
        this.#node.clones!.drop(message.rank);
        break;
      case "adopt-rank":
        this.#node.adopt(message.rank);
        break;
      case "release-rank":
        this.#starts.release(message);
        break;
      case "stay-rank":
        // Before it goes on.
        this.#node.memory.stays(message.rank, message.incarnation);
        this.#node.memory.stop(message.rank, Stop.NO);
        break;
      case "kill-ranks":
        for (const rank of message.ranks) this.#starts.kill(rank);
        break;
      case "flip-bits":
        this.#node.threads.flipBits(message);
        break;
      case "go-on-after":
        this.#node.threads.get(message.rank)?.post(message);
        this.#node.memory.ring(this.#node.memory.placeOf(message.rank));
        break;
      case "links":
        if (message.areCut) this.#node.tcp?.cut(message.ranks);
        else this.#node.tcp?.restore(message.ranks);
        break;
      case "where":
        this.#node.send({ kind: "whereabouts", number: message.number, places: this.#node.threads.places });
        break;
      case "end":
        void this.#leave();
        break;
      default:
        unreachable(message);
    }
  }

  /** Opens the gate when the program is here. */
  #run({ form, packages }: RunProgram): void {
    const { files, setup } = this.#node;
    const programs = [setup.program, ...setup.others.map(({ program }) => program)];
    const missing = files.missingPackage(packages);
    const arriving = missing === undefined ? programs.map((each) => files.bringProgram(each, form)) : [];
    const open = (problems: readonly (string | null | undefined)[]): void => {
      const problem = problems.find((each) => each !== null && each !== undefined && each !== "");
      if (problem === undefined || problem === null) void this.#node.threads.letRun(form);
      else this.#node.send({ kind: "unable", why: problem });
    };
    if (arriving.every((each) => each === null)) open([missing]);
    else void Promise.all(arriving).then(open);
  }

  async #leave(): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#starts.leave();
    const running = this.#node.threads.all;
    const stuck = setTimeout(() => this.#bye("with everything"), terminateMsMax);
    await Promise.all(running.map((thread) => thread.terminate()));
    clearTimeout(stuck);
    this.#node.tcp?.close();
    await this.#node.files.finish();
    // Ranks that were cut short may have left programs of their own running; those that ended in order meant to.
    this.#bye(running.length > 0 ? "with everything" : "in order");
  }

  #bye(how: "in order" | "with everything"): void {
    this.#node.relay.relayAll();
    this.#node.send({ kind: "bye" });
    this.#options.leave(how);
  }

  #beat(): void {
    this.#node.part?.look?.();
    this.#sayAlive();
  }

  /** A message that waits already is a sign of life. */
  #sayAlive(): void {
    if (this.#options.isSaying()) return;
    const over = this.#node.threads.overFor(overMs);
    const { packets } = this.#node.memory;
    const usedMb = this.#node.clones?.usedMb ?? 0;
    this.#node.send({ kind: "heartbeat", passed: this.#node.lives?.passed ?? [], over, packets, usedMb });
  }
}
