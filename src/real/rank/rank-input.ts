/**
 * `process.stdin` of a rank: asks for a piece when the program reads. Standard input is rank 0's; where deaths are survived, that of the
 * first rank that lives.
 */
import { Readable } from "node:stream";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { roleOf } from "../../core/base/players.ts";
import type { ProtocolDefinition } from "../../core/ft/definition.ts";
import type { Process } from "../../core/process/process.ts";
import type { FromRank, Input, RankSetup, ToRank } from "../messages/rank-messages.ts";
import type { RankHost } from "../process/rank-host.ts";

/** Can standard input ever be that rank's? */
export function mayRead(
  setup: Pick<RankSetup, "rank" | "ranks" | "replicas" | "origin">,
  { definition }: { readonly definition: ProtocolDefinition },
): boolean {
  return setup.origin === null && (roleOf(setup).rank === 0 || definition.deaths === "survived");
}

/** Is standard input that rank's now? All ranks before it are dead, as far as it knows. */
export function isReader(rank: number, { engine: { peers } }: Process): boolean {
  for (let before = 0; before < rank; before++) if (!peers.hasFailed(before)) return false;
  return true;
}

export interface RankInputOptions {
  readonly port: MessagePort;
  /** A question without a line end has to be seen before its answer can be typed. */
  beforeRead(): void;
  /** How much a life before has read. */
  readonly offset: number;
  /** False: the input is not this rank's, and the program finds its end. */
  isReader(): boolean;
}

export abstract class RankInput extends Readable {
  readonly fd = 0;
  protected readonly port: MessagePort;
  readonly #beforeRead: () => void;
  readonly #isReader: () => boolean;
  /** How much has been given to this stream, from the beginning of the job's input. */
  #offset: number;
  protected isAsked = false;

  constructor({ port, beforeRead, offset, isReader }: RankInputOptions) {
    super({ highWaterMark: 0 });
    this.port = port;
    this.#beforeRead = beforeRead;
    this.#isReader = isReader;
    this.#offset = offset;
    this.on("pause", () => this.leave());
    this.on("resume", () => {
      if (this.isAsked) this.stay();
    });
  }

  /** How much of the input the program has taken from this stream. */
  get taken(): number {
    return this.#offset - this.readableLength;
  }

  override _read(): void {
    if (this.isAsked) return;
    if (!this.#isReader()) {
      this.push(null);
      return;
    }
    this.isAsked = true;
    this.#beforeRead();
    this.stay();
    this.port.postMessage({ kind: "input-wanted", offset: this.#offset } satisfies FromRank);
  }

  /** A piece that somebody else took from the port. */
  abstract heard(input: Input): void;

  /** Input meant for an earlier life is dropped: it will be given again. */
  protected isAnswer({ offset }: Input): boolean {
    return this.isAsked && offset === this.#offset;
  }

  protected give({ bytes }: Input): void {
    this.isAsked = false;
    this.#offset += bytes?.length ?? 0;
    this.push(bytes);
  }

  /** A piece is waited for: the thread must not end. */
  protected abstract stay(): void;
  /** The program has paused the stream (as closing a readline interface does): the thread may end. */
  protected abstract leave(): void;
}

/** Pieces come when they come. */
export class LiveInput extends RankInput {
  constructor(options: RankInputOptions) {
    super(options);
    this.port.on("message", (message: ToRank) => {
      if (message.kind === "input") this.heard(message);
    });
    this.port.unref();
  }

  override heard(input: Input): void {
    if (!this.isAnswer(input)) return;
    this.leave();
    this.give(input);
  }

  protected override stay(): void {
    this.port.ref();
  }

  protected override leave(): void {
    this.port.unref();
  }
}

/**
 * Under a protocol that replays: a piece is something that is awaited, like a request, so that it comes at the same place in every
 * life; and messages go on meanwhile.
 */
export class ReplayedInput extends RankInput {
  readonly #host: Pick<RankHost, "await">;
  #next: Input | undefined;
  #withdraw: (() => void) | undefined;

  constructor(options: RankInputOptions, host: Pick<RankHost, "await">) {
    super(options);
    this.#host = host;
  }

  protected override stay(): void {
    this.#withdraw ??= this.#host.await(
      () => this.#hasCome(),
      () => {
        const next = this.#next!;
        this.#next = undefined;
        this.#withdraw = undefined;
        this.give(next);
      },
    );
  }

  protected override leave(): void {
    this.#withdraw?.();
    this.#withdraw = undefined;
  }

  override heard(input: Input): void {
    if (this.isAnswer(input)) this.#next = input;
  }

  #hasCome(): boolean {
    while (this.#next === undefined) {
      const received = receiveMessageOnPort(this.port) as { message: Input } | undefined;
      if (received === undefined) return false;
      if (this.isAnswer(received.message)) this.#next = received.message;
    }
    return true;
  }
}
