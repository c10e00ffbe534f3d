import type { ProtocolDefinition } from "./definition.ts";
import { instruments, protocols } from "./registry.ts";

/** Those that start the lost again: their jobs can be resumed. */
export const resumableNames: readonly string[] = protocols
  .filter(({ deaths }) => deaths === "replaced")
  .map(({ name }) => name);

/** Those under which no node listens. */
export const relayedNames: readonly string[] = protocols
  .filter(({ isRelayed }) => isRelayed === true)
  .map(({ name }) => name);

export const protocolNames: readonly string[] = protocols.map(({ name }) => name);

/** Also of an instrument. Undefined: there is no such protocol. */
export const protocolNamed = (name: string): ProtocolDefinition | undefined =>
  [...protocols, ...instruments].find((protocol) => protocol.name === name);
