import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ToNode } from "../../messages/node-messages.ts";
import { CloneTravel } from "./clone-travel.ts";

const places = { source: 3, sourceNode: 1, clone: 5, cloneNode: 2 };
const addresses = [{ host: "::1", port: 7 }];

function travelling(): { travel: CloneTravel; sent: [number, ToNode["kind"]][] } {
  const sent: [number, ToNode["kind"]][] = [];
  return { travel: new CloneTravel(17, places, (node, { kind }) => sent.push([node, kind])), sent };
}

test("D2 an image is whole when its source is captured and its clone has everything, whichever is heard first", () => {
  for (const isCapturedFirst of [true, false]) {
    const { travel, sent } = travelling();
    travel.depart();
    travel.depart();
    travel.heard(3, { kind: "listening", addresses });
    travel.heard(3, { kind: "copied", rounds: [{ pages: 9, ms: 1 }] });
    travel.heard(3, { kind: "left", last: { pages: 1, ms: 1 } });
    if (isCapturedFirst) travel.captured(4);
    else travel.heard(5, { kind: "arrived", bytes: 80 });
    equal(travel.whole, null);
    if (isCapturedFirst) travel.heard(5, { kind: "arrived", bytes: 80 });
    else travel.captured(4);
    const { copyMs, ...whole } = travel.whole!;
    deepEqual(whole, { bytes: 80, rounds: 2, inputOffset: 4 });
    equal(copyMs >= 0, true);
    deepEqual(sent, [
      [1, "give-clone"],
      [2, "take-clone"],
    ]);
  }
});

test("D2 news of the wrong process are none, and a node that ends takes what it had along", () => {
  const { travel, sent } = travelling();
  travel.nodeEnded(2);
  equal(travel.isLost, false, "nothing was there yet");
  travel.depart();
  travel.heard(5, { kind: "listening", addresses });
  travel.captured(0);
  travel.heard(3, { kind: "arrived", bytes: 80 });
  equal(travel.whole, null);
  travel.nodeEnded(1);
  equal(travel.isLost, false);
  travel.nodeEnded(2);
  equal(travel.isLost, true);
  travel.giveUp();
  deepEqual(sent, [
    [1, "give-clone"],
    [1, "drop-clone"],
    [2, "drop-clone"],
  ]);
});

test("D2 the source prepares before the node of the clone is there, which is told where to call when both are", () => {
  const { travel, sent } = travelling();
  travel.heard(3, { kind: "listening", addresses });
  deepEqual(sent, [[1, "give-clone"]]);
  travel.depart();
  deepEqual(sent.at(-1), [2, "take-clone"]);
  const other = travelling();
  other.travel.giveUp();
  deepEqual(other.sent, [
    [1, "give-clone"],
    [1, "drop-clone"],
  ]);
});
