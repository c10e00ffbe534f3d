/** Messages that are in memory, by sender and number: small numbers as keys, which a map finds in less time than one large one. */
import type { HomeMessage } from "./home-items.ts";

export class MessagesBySender {
  readonly #senders = new Map<number, Map<number, HomeMessage>>();

  get size(): number {
    return [...this.#senders.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get(source: number, sequence: number): HomeMessage | undefined {
    return this.#senders.get(source)?.get(sequence);
  }

  add(message: HomeMessage): void {
    const { source, sequence } = message.facts;
    let messages = this.#senders.get(source);
    if (messages === undefined) {
      messages = new Map();
      this.#senders.set(source, messages);
    }
    messages.set(sequence, message);
  }

  delete({ facts: { source, sequence } }: HomeMessage): void {
    this.#senders.get(source)?.delete(sequence);
  }

  *[Symbol.iterator](): Generator<HomeMessage> {
    for (const messages of this.#senders.values()) yield* messages.values();
  }
}
