import { equal, match } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";
import { CloneImages } from "./clone-images.ts";

test("D2 an image goes from the source's place to the clone's, and stays where it is when a replica is moved", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pathOf = (process: number): string => imagePath(folderOfCheckpoint(folder, process, 17), process);
  mkdirSync(dirname(pathOf(1)), { recursive: true });
  writeFileSync(pathOf(1), "image");
  const images = new CloneImages(folder);
  equal(images.move({ source: 1, clone: 4, number: 17 }), 5);
  equal(existsSync(pathOf(4)), true);
  equal(existsSync(dirname(pathOf(1))), false);
  equal(images.move({ source: 4, clone: 4, number: 17 }), 5);
  match(String(images.move({ source: 1, clone: 4, number: 17 })), /ENOENT/);
  images.remove(4, 17);
  equal(existsSync(dirname(pathOf(4))), false);
});
