/** A protocol that changes nothing and writes down every message that the process sends: the instrument of the determinism check. */
import type { Pointer, RecordId } from "../../base/brand.ts";
import { lives } from "../../base/saved-classes.ts";
import { R_BYTES, R_CONTEXT, R_PEER, R_POINTER, R_SEQUENCE, R_TAG, recordWords } from "../../request/records.ts";
import { PassThrough } from "../pass-through.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { everyByte, payloadHash } from "./send-hash.ts";
import type { SendEntries, SendLog } from "./send-log.ts";

/** What the recorder is told of a message beside what its record says. */
interface SendWitness {
  /** The number of the call that sends it, in a table of texts; −1: not known. */
  call(): number;
  /** Its place among all messages of the run; −1: not known. */
  order(): number;
}

export class SendRecorder extends PassThrough {
  static readonly unsaved = { witness: null };
  protected readonly ports: ProtocolPorts;
  private readonly log: SendLog;
  private readonly witness: SendWitness;

  constructor(ports: ProtocolPorts, log: SendLog, witness: SendWitness) {
    super();
    this.ports = ports;
    this.log = log;
    this.witness = witness;
  }

  /** Every message shall be seen. */
  override mayPass(): boolean {
    return false;
  }

  override sendPosted(send: RecordId): boolean {
    const { records, memory } = this.ports;
    const { words } = records;
    const at = send * recordWords;
    const bytes = words[at + R_BYTES]!;
    const view = memory.view(words[at + R_POINTER]! as Pointer, bytes);
    this.log.add({
      dest: words[at + R_PEER]!,
      sequence: words[at + R_SEQUENCE]!,
      context: words[at + R_CONTEXT]!,
      tag: words[at + R_TAG]!,
      bytes,
      hash: payloadHash(view, 0, bytes, everyByte),
      call: this.witness.call(),
      order: this.witness.order(),
    });
    return false;
  }

  override report(): SendEntries {
    return this.log.entries;
  }
}

lives({ SendRecorder });
