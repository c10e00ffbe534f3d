/**
 * Holds every send back until the process has made progress a few times. Useless, and a protocol all the same: it shows that
 * a folder and a line are enough (`../registry.ts`). It counts what it has held back, in its image too.
 */
import type { RecordId } from "../../../src/core/base/brand.ts";
import { lives } from "../../../src/core/base/saved-classes.ts";
import { PassThrough } from "../../../src/core/ft/pass-through.ts";
import type { ProtocolPorts } from "../../../src/core/ft/protocol.ts";
import { R_PROTOCOL } from "../../../src/core/request/records.ts";

export interface DelayedReport {
  /** Sends that were held back, in all lives that the image knew of. */
  readonly held: number;
}

export class DelayedProtocol extends PassThrough {
  static readonly unsaved = { delay: 0 };
  private readonly delay: number;
  private readonly ports: ProtocolPorts;
  private progresses = 0;
  /** The progress at which the last send that was posted may leave. */
  private lastDue = 0;
  private delayedSends = 0;

  constructor(delay: number, ports: ProtocolPorts) {
    super();
    this.delay = delay;
    this.ports = ports;
  }

  /** Every message shall be asked about. */
  override mayPass(): boolean {
    return false;
  }

  override sendPosted(send: RecordId): boolean {
    this.delayedSends++;
    this.lastDue = this.progresses + this.delay;
    this.ports.records.put(send, R_PROTOCOL, this.lastDue);
    return false;
  }

  override sendMayLeave(send: RecordId): boolean {
    return this.progresses >= this.ports.records.get(send, R_PROTOCOL);
  }

  override get isBusy(): boolean {
    return this.progresses < this.lastDue;
  }

  override progress(): boolean {
    if (!this.isBusy) return false;
    this.progresses++;
    return true;
  }

  override report(): DelayedReport {
    return { held: this.delayedSends };
  }
}

lives({ DelayedProtocol });
