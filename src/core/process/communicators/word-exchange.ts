import type { Pointer, RecordId } from "../../base/brand.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { R_ERROR } from "../../request/records.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";

/** Small numbers that every member of a communicator tells every other: an allgather of words. */
export class WordExchange {
  private readonly comm: Communicator;
  private readonly words: readonly number[];
  private readonly tag: number | null;
  private request = -1 as RecordId;
  private buffer = 0 as Pointer;
  error = 0;

  /** With a tag the communicator may be a draft, see `draftOf`. */
  constructor(comm: Communicator, words: readonly number[], tag: number | null = null) {
    this.comm = comm;
    this.words = words;
    this.tag = tag;
  }

  /** The words of all members one after another; null while they are under way. */
  advance(process: Process): Int32Array | null {
    const { engine, memory, collectives } = process;
    const bytes = this.words.length * 4;
    if (this.request < 0) {
      const all = bytes * this.comm.size;
      this.buffer = memory.allocate(all);
      // Words that never come, because ranks disagree, are zeros.
      memory.bytes.fill(0, this.buffer, this.buffer + all);
      new Int32Array(memory.bytes.buffer, this.buffer + this.comm.rank * bytes, this.words.length).set(this.words);
      const form = this.tag ?? "nonblocking";
      this.request =
        form !== "nonblocking" && this.isDraft(process)
          ? collectives.startAgreement(this.comm, this.buffer, bytes, form)
          : collectives.startEqual(this.comm, "allgather", 0 as Pointer, this.buffer, { bytes, inPlace: true, form });
    }
    if (!engine.isComplete(this.request)) return null;
    this.error = engine.records.get(this.request, R_ERROR);
    engine.giveBack(this.request);
    if (this.isDraft(process)) collectives.forget(this.comm);
    const all = new Int32Array(memory.bytes.buffer, this.buffer, this.words.length * this.comm.size).slice();
    memory.free(this.buffer);
    // A rank that called another collective may have taken part in this one, and its messages have no words.
    const isOwnThere = this.words.every((word, i) => all[this.comm.rank * this.words.length + i] === word);
    if (!isOwnThere) this.error ||= ErrorClass.OTHER;
    return all;
  }

  private isDraft({ communicators }: Process): boolean {
    return this.tag !== null && communicators.get(this.comm.context) !== this.comm;
  }
}

saves({ WordExchange });
