/**
 * Every protocol that there is. A new one is a folder beside this file, and a line here; one that needs the machine has a folder
 * under `real/` as well, and lines in `real/protocol-parts`.
 */
import { channelMemory } from "./channel-memory/definition.ts";
import type { ChannelMemoryLaunchOptions } from "./channel-memory/options.ts";
import type { ProtocolDefinition } from "./definition.ts";
import { faultLayer } from "./fault-layer/definition.ts";
import type { FaultLayerLaunchOptions } from "./fault-layer/options.ts";
import { logging } from "./logging/definition.ts";
import type { LoggingLaunchOptions } from "./logging/options.ts";
import { none } from "./none/definition.ts";
import { replication } from "./replication/definition.ts";
import type { ReplicationLaunchOptions } from "./replication/options.ts";
import { sendRecord } from "./send-record/definition.ts";
import { ulfm } from "./ulfm/definition.ts";

export const protocols: readonly ProtocolDefinition[] = [none, logging, ulfm, replication, faultLayer, channelMemory];

/** Instruments of commands: they stand where a protocol stands, and no user chooses them. */
export const instruments: readonly ProtocolDefinition[] = [sendRecord];

/** Of a job that names none. */
export const protocolDefault: ProtocolDefinition = none;

/** What the protocols add to the options of `launch`. */
export interface ProtocolLaunchOptions
  extends LoggingLaunchOptions,
    ReplicationLaunchOptions,
    ChannelMemoryLaunchOptions,
    FaultLayerLaunchOptions {}
