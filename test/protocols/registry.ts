/** The registry of a Banyan that has one protocol more. */
import type { ProtocolDefinition } from "../../src/core/ft/definition.ts";
import * as shipped from "../../src/core/ft/registry.ts";
import { delayed } from "./delayed/definition.ts";

export const protocols: readonly ProtocolDefinition[] = [...shipped.protocols, delayed];

export const { protocolDefault, instruments } = shipped;
