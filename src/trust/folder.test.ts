import { equal, match } from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { distrust, isOwnFile, isOwnFolder, thisUser } from "./folder.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-trust-"));
after(() => rmSync(root, { recursive: true, force: true }));
const stranger = 12345;
const asRoot = { skip: thisUser().uid === 0 ? false : "only root can make files of another user" };

function folder(name: string, mode = 0o700): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

describe("X7 a folder is trusted", () => {
  it("when it is ours, or will be", () => {
    equal(distrust(folder("mine")), undefined);
    equal(distrust(join(root, "mine", "not", "there")), undefined);
    equal(distrust(folder("readable", 0o755)), undefined);
  });

  it("not when others can write to it, or to one above it", () => {
    folder("open/inside");
    chmodSync(join(root, "open"), 0o777);
    match(distrust(join(root, "open")) ?? "", /open can be written by other users$/);
    match(distrust(join(root, "open", "inside", "deep")) ?? "", /open can be written by other users$/);
  });

  it("when others can write above it, but replace nothing that is not theirs", () => {
    folder("sticky/inside");
    chmodSync(join(root, "sticky"), 0o1777);
    equal(distrust(join(root, "sticky", "inside")), undefined);
  });

  it("when a link leads to it, and not because of the link alone", () => {
    folder("target");
    symlinkSync("target", join(root, "link"));
    equal(distrust(join(root, "link")), undefined);
    folder("wide", 0o777);
    symlinkSync(join(root, "wide", "below"), join(root, "link-to-wide"));
    match(distrust(join(root, "link-to-wide")) ?? "", /wide can be written by other users$/);
    symlinkSync("circle", join(root, "circle"));
    match(distrust(join(root, "circle")) ?? "", /circle is one link too many$/);
  });

  it("not when it cannot be reached, which is no exception", () => {
    const long = join(root, "n".repeat(300));
    equal(distrust(join(long, "below")), `${long} cannot be reached (the name is too long)`);
    equal(isOwnFolder(long), false);
  });

  it("not when it is a file", () => {
    writeFileSync(join(root, "file"), "");
    match(distrust(join(root, "file")) ?? "", /file is not a folder$/);
  });

  it("not when another user owns it, one above it, or a link on the way", asRoot, () => {
    const theirs = folder("theirs");
    folder("theirs/ours");
    chownSync(theirs, stranger, stranger);
    match(distrust(theirs) ?? "", /theirs belongs to user 12345$/);
    match(distrust(join(theirs, "ours")) ?? "", /theirs belongs to user 12345$/);
    // As another user sees it: root's folders are trusted to lie above it, but not to be its own.
    const user = { uid: stranger, gid: stranger };
    match(distrust(folder("roots", 0o755), user) ?? "", /roots belongs to user 0$/);
  });

  it("and so are a file and a folder in it", asRoot, () => {
    const path = join(folder("files"), "file");
    writeFileSync(path, "", { mode: 0o600 });
    const isOwn = (): boolean => {
      const file = openSync(path, "r");
      try {
        return isOwnFile(file);
      } finally {
        closeSync(file);
      }
    };
    equal(isOwn(), true);
    chmodSync(path, 0o666);
    equal(isOwn(), false);
    chmodSync(path, 0o600);
    chownSync(path, stranger, stranger);
    equal(isOwn(), false);
    equal(isOwnFolder(join(root, "files")), true);
    equal(isOwnFolder(join(root, "theirs")), false);
    equal(isOwnFolder(join(root, "nothing")), false);
  });
});
