import type { Pointer, RecordId } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import { R_ERROR } from "../../request/records.ts";
import type { CollectiveForm } from "../collective-form.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";

/** Small numbers that one member of a communicator tells all others, which know how many. */
export class WordBroadcast {
  private readonly comm: Communicator;
  private readonly root: number;
  private readonly words: Int32Array;
  private readonly form: CollectiveForm;
  private request = -1 as RecordId;
  private buffer = 0 as Pointer;
  error = 0;

  /** `form`: a number that the caller has taken, otherwise the broadcast takes one when it begins. */
  constructor(comm: Communicator, root: number, words: Int32Array, form: CollectiveForm = "nonblocking") {
    this.comm = comm;
    this.root = root;
    this.words = words;
    this.form = form;
  }

  /** The root's words; null while they are under way. */
  advance(process: Process): Int32Array | null {
    const { engine, memory, collectives } = process;
    const { length, byteLength: bytes } = this.words;
    if (this.request < 0) {
      this.buffer = memory.allocate(bytes);
      new Int32Array(memory.bytes.buffer, this.buffer, length).set(this.words);
      const call = { bytes, root: this.root, form: this.form };
      this.request = collectives.startEqual(this.comm, "bcast", 0 as Pointer, this.buffer, call);
    }
    if (!engine.isComplete(this.request)) return null;
    this.error = engine.records.get(this.request, R_ERROR);
    engine.giveBack(this.request);
    const all = new Int32Array(memory.bytes.buffer, this.buffer, length).slice();
    memory.free(this.buffer);
    return all;
  }
}

saves({ WordBroadcast });
