/** A communicator as programs see it: messages (point-to-point.ts) and what concerns the communicator as a whole. */
import type { MpiError } from "../core/base/mpi-error.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import type { Buffers } from "./buffers.ts";
import { Collectives } from "./collectives.ts";
import type { Host } from "./host.ts";

export class Communicator extends Collectives {
  name: string;

  constructor(host: Host, buffers: Buffers, core: CoreCommunicator, name = "") {
    super(host, buffers, core);
    this.name = name;
  }

  override get label(): string {
    return this.name === "" ? `#${this.core.context}` : `"${this.name}"`;
  }

  override raise(error: MpiError): never {
    this.endTrace();
    throw error;
  }
}
