/** The build of a process as a number of a hello: processes of different builds do not understand each other's messages. */
import { createHash } from "node:crypto";

export const buildNumber = (build: string): number => createHash("sha256").update(build).digest().readUInt32LE(0);
