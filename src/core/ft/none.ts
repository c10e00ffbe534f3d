/**
 * No fault tolerance: the first death ends the job. The baseline of every benchmark and the template of every other
 * protocol. `core/process` recognises it and leaves its calls out altogether.
 */
import { lives } from "../base/saved-classes.ts";
import { Arrival, Pin } from "../request/decisions.ts";
import type { Protocol } from "./protocol.ts";

export class NoProtocol implements Protocol {
  readonly name = "none";
  readonly replacesTheDead = false;
  readonly choices = null;
  readonly isBusy = false;
  attach(): void {}
  mayPass(): boolean {
    return true;
  }
  received(): void {}
  sendPosted(): boolean {
    return false;
  }
  meeting(): void {}
  sendMayLeave(): boolean {
    return true;
  }
  sendMayComplete(): boolean {
    return true;
  }
  lend(): boolean {
    return true;
  }
  receivePosted(): Pin {
    return Pin.FREE;
  }
  arrived(): Arrival {
    return Arrival.TAKE;
  }
  held(): void {}
  matched(): void {}
  cancelling(): boolean {
    return true;
  }
  writeMayLeave(): boolean {
    return true;
  }
  control(): void {}
  progress(): boolean {
    return false;
  }
  peerFailed(): void {}
  peerReturned(): void {}
}

lives({ NoProtocol });
