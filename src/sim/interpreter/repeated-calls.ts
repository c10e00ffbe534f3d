/**
 * Calls that may have to wait in the middle: for a choice to be stable, for a lock, for input. A real rank waits there, inside the call;
 * a simulated one cannot. Its call is given up and made again later, with the answers that it got before: every question to the world
 * is asked once. Questions may consist of others (a call of the replayed file system, and its calls of the simulated one): of a question
 * that was not answered the answers to its parts are kept.
 */
import type { ChoiceKind, Choices, Outcome } from "../../core/ft/choices.ts";
import type { Files } from "../../wasi/ports.ts";
import type { SimProcess, Steps, Wait } from "../sim-process.ts";

class NotYet extends Error {}

type Answer = { readonly value: unknown } | { readonly error: unknown };

interface CallWait {
  readonly what: string;
  readonly isReady: () => boolean;
  /** Above 0: the call is made again when the program has waited for that time. */
  forNs: number;
}

/** How long a rank waits before it asks for a lock again: twice as long each time; and how often, which is longer than any recovery. */
const pauseNsMin = 3_000;
const pauseNsMax = 100_000_000;
const pausesMax = 60;

export class RepeatedCalls {
  /** How often a call was given up. */
  interruptions = 0;
  /** By depth: the answers that the call has got, and which it wants next. */
  readonly #answers: Answer[][] = [[]];
  readonly #next: number[] = [0];
  #depth = 0;
  #part = 0;
  /** Of the call so far. */
  #pauses = 0;
  #partOf: () => number = () => 0;
  #wait: CallWait | null = null;

  /** Has a call been given up that has not been made again? */
  get isInterrupted(): boolean {
    return this.#wait !== null;
  }

  /** Must the program wait before the call can go on? */
  get mustWait(): boolean {
    return this.#wait !== null && (this.#wait.forNs > 0 || !this.#wait.isReady());
  }

  /** For the program, which waits in it once: only messages progress meanwhile. */
  wait(process: SimProcess): Wait {
    const wait = this.#wait!;
    const { what, isReady, forNs } = wait;
    wait.forNs = 0;
    return forNs > 0 ? process.nap(what, forNs) : process.settle(what, isReady);
  }

  *run<T>(process: SimProcess, call: () => T): Steps<T> {
    for (;;) {
      const done = this.attempt(call);
      if (done !== null) return done.value;
      if (this.mustWait) yield this.wait(process);
    }
  }

  /**
   * Makes the call, for the first time or again. Null: it has to wait. A call of several parts, of which those that are over are not
   * made again, says which part it is in.
   */
  attempt<T>(call: () => T, partOf: () => number = () => 0): { readonly value: T } | null {
    if (this.mustWait) return null;
    this.#wait = null;
    this.#depth = 0;
    this.#next[0] = 0;
    this.#partOf = partOf;
    try {
      const value = call();
      this.#forget();
      return { value };
    } catch (error) {
      if (this.isInterrupted) return null;
      this.#forget();
      throw error;
    }
  }

  #forget(): void {
    for (const answers of this.#answers) answers.length = 0;
    this.#part = 0;
    this.#pauses = 0;
  }

  /** Asks the world, unless the call has the answer from an earlier attempt. */
  once<T>(ask: () => T): T {
    if (this.#part !== this.#partOf()) {
      this.#forget();
      this.#next[this.#depth] = 0;
      this.#part = this.#partOf();
    }
    const depth = this.#depth;
    const answers = this.#answers[depth]!;
    if (this.#next[depth] === answers.length) answers.push(this.#answerOf(ask));
    const answer = answers[this.#next[depth]!++]!;
    if ("error" in answer) throw answer.error;
    return answer.value as T;
  }

  #answerOf(ask: () => unknown): Answer {
    // A call that was given up asks nothing more, though it may still run: it may have something to do at its end.
    if (this.isInterrupted) throw new NotYet();
    const inside = ++this.#depth;
    this.#answers[inside] ??= [];
    this.#next[inside] = 0;
    try {
      return { value: ask() };
    } catch (error) {
      if (this.isInterrupted) throw error;
      return { error };
    } finally {
      if (!this.isInterrupted) this.#answers[inside]!.length = 0;
      this.#depth = inside - 1;
    }
  }

  /** Returns when it is so. */
  waitUntil(what: string, isReady: () => boolean): void {
    this.once(() => {
      if (!isReady()) this.#interrupt({ what, isReady, forNs: 0 });
    });
  }

  /** Returns after a while. */
  pause(): void {
    let isNew = false;
    const pauses = this.once(() => {
      isNew = true;
      return ++this.#pauses;
    });
    if (pauses > pausesMax) throw new Error("A call of a script waits for ever for a lock");
    const forNs = Math.min(pauseNsMin * 2 ** pauses, pauseNsMax);
    if (isNew) this.#interrupt({ what: "a while", isReady: () => true, forNs });
  }

  #interrupt(wait: CallWait): never {
    this.#wait = wait;
    this.interruptions++;
    throw new NotYet();
  }

  // What calls ask

  choices(choices: Choices): Choices {
    return {
      isReady: true,
      replay: (kind: ChoiceKind): Outcome | undefined => {
        this.waitUntil("a choice to be made elsewhere", () => choices.isReady);
        return this.once(() => choices.replay(kind));
      },
      made: (kind, outcome) => this.once(() => choices.made(kind, outcome)),
      nothing: (kind) => this.once(() => choices.nothing(kind)),
    };
  }

  files(files: Files): Files {
    const read: Files["read"] = (file, bytes, position) => {
      const part = this.once(() => {
        const room = new Uint8Array(bytes.length);
        return room.subarray(0, files.read(file, room, position));
      });
      bytes.set(part);
      return part.length;
    };
    return new Proxy(files, {
      get: (_, name) => {
        if (name === "read") return read;
        // It asks nothing, and its callers keep the handle.
        if (name === "reopen") return files.reopen.bind(files);
        const value: unknown = Reflect.get(files, name, files);
        return typeof value !== "function"
          ? value
          : (...given: unknown[]) => this.once(() => Reflect.apply(value, files, given));
      },
    });
  }
}
