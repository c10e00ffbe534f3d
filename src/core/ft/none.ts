/**
 * No fault tolerance: the first death ends the job. The baseline of every benchmark and the template of every other
 * protocol. `core/process` recognises it and leaves its calls out altogether.
 */
import type { Choice, Protocol } from "./protocol.ts";

export class NoProtocol implements Protocol {
  readonly name = "none";
  sendPosted(): void {}
  sendMayLeave(): boolean {
    return true;
  }
  sendMayComplete(): boolean {
    return true;
  }
  receivePosted(): void {}
  arrived(): boolean {
    return true;
  }
  held(): void {}
  matched(): void {}
  outcome(choice: Choice): Choice {
    return choice;
  }
  writeMayLeave(): boolean {
    return true;
  }
  control(): void {}
  peerFailed(): void {}
  peerReturned(): void {}
  save(): void {}
  restore(): void {}
}
