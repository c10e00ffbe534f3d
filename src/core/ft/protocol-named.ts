import type { ProtocolDefinition } from "./definition.ts";
import { protocols } from "./registry.ts";

export const protocolNames: readonly string[] = protocols.map(({ name }) => name);

/** Undefined: there is no such protocol. */
export const protocolNamed = (name: string): ProtocolDefinition | undefined =>
  protocols.find((protocol) => protocol.name === name);
