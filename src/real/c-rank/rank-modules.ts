/**
 * The modules that a rank in C compiles when its node has set V8's flags for it, besides its program: all of them, whichever its program needs. Their
 * machine code is kept from run to run (real/node/program-code.ts).
 */
import switchBytes from "../../abi/stack-switch.wat";
import meetingBytes from "../data-plane/collectives.wat";
import meetingFaceBytes from "../data-plane/collectives-face.wat";
import exchangeBytes from "../data-plane/exchange.wat";
import faceBytes from "../data-plane/face.wat";
import planeBytes from "../data-plane/plane.wat";
import requestsBytes from "../data-plane/requests.wat";
import requestsFaceBytes from "../data-plane/requests-face.wat";
import foldBytes from "../transport/fold.wat";
import { callsAnew } from "../transport/node-memory.ts";
import turnsBytes from "./turns.wat";

export const rankModules: readonly Uint8Array[] = [
  ...[planeBytes, faceBytes, exchangeBytes, requestsBytes, requestsFaceBytes, meetingBytes, meetingFaceBytes],
  ...[callsAnew, foldBytes, switchBytes, turnsBytes],
];
