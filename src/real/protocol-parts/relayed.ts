import { protocolNamed } from "../../core/ft/protocol-named.ts";

/** Do ranks under that protocol speak through services alone? Then no node listens. */
export const isRelayed = (protocol: string): boolean => protocolNamed(protocol)?.isRelayed === true;
