/**
 * What the node's main thread sends to a rank of a C program. Its thread runs no event loop, so it looks here when it wants
 * something; whatever else has come is kept until somebody asks for it.
 */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { unreachable } from "../../core/base/assert.ts";
import type { SpawnAnswer } from "../../core/process/spawner.ts";
import type { GoOnAfter, Input, ToRank } from "../messages/rank-messages.ts";

export class RankInbox {
  readonly #port: MessagePort;
  readonly #inputs: Input[] = [];
  readonly #answers: SpawnAnswer[] = [];
  readonly #goOns: GoOnAfter[] = [];
  /** Of the processes of the node, by their places; those that are spawned come later. */
  readonly #memories: (WebAssembly.Memory | undefined)[];

  constructor(port: MessagePort, memories: readonly (WebAssembly.Memory | undefined)[]) {
    this.#port = port;
    this.#memories = [...memories];
  }

  /** Standard input that has come. */
  nextInput(): Input | undefined {
    this.#look();
    return this.#inputs.shift();
  }

  /** The answer to a spawn. */
  nextAnswer(): SpawnAnswer | undefined {
    this.#look();
    return this.#answers.shift();
  }

  /** It stood still for the fault plan, and shall go on. */
  nextGoOn(): GoOnAfter | undefined {
    this.#look();
    return this.#goOns.shift();
  }

  /** The memory of a process of the node: sent before the process is born, so before anybody has heard of it. */
  memoryOf(place: number): WebAssembly.Memory {
    if (this.#memories[place] === undefined) this.#look();
    return this.#memories[place]!;
  }

  #look(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { message: ToRank } | undefined;
      if (received === undefined) return;
      const { message } = received;
      switch (message.kind) {
        case "input":
          this.#inputs.push(message);
          break;
        case "neighbours":
          for (const { place, memory } of message.neighbours) this.#memories[place] = memory;
          break;
        case "go-on-after":
          this.#goOns.push(message);
          break;
        case "spawn-answer":
          this.#answers.push(message.answer);
          break;
        default:
          unreachable(message);
      }
    }
  }
}
