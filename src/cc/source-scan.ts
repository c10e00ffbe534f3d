/**
 * The files that a source may include, found textually: no conditions are evaluated, so there are more than a compiler would
 * read. Comments and strings that look like a directive are taken for one. Names made by macros are reported as such.
 */

export interface ScannedSource {
  /** `#include "x"`, `#embed "x"`, `__has_include("x")`. */
  readonly quoted: readonly string[];
  /** The same with `<x>`. */
  readonly angled: readonly string[];
  /** `#include NAME`: names of macros, or "" for anything but a name. */
  readonly macros: readonly string[];
  /** `#define NAME "x"` and `#define NAME <x>`: the possible values of those macros. */
  readonly definitions: readonly MacroFile[];
}

export interface MacroFile {
  readonly macro: string;
  readonly file: string;
  readonly form: "quoted" | "angled";
}

const directive =
  /^[ \t]*(?:#|%:)[ \t]*(?:(?:include|include_next|import|embed)\b[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|([^\n]*))|define[ \t]+(\w+)[ \t]+(?:"([^"\n]+)"|<([^>\n]+)>))/gm;
const question = /__has_(?:include(?:_next)?|embed)[ \t]*\([ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)/g;

export function scanSource(text: string): ScannedSource {
  const quoted = new Set<string>();
  const angled = new Set<string>();
  const macros = new Set<string>();
  const definitions: MacroFile[] = [];
  for (const [, quote, angle, other, macro, fileQuoted, fileAngled] of text.matchAll(directive)) {
    if (quote !== undefined) quoted.add(quote);
    else if (angle !== undefined) angled.add(angle);
    else if (other !== undefined) macros.add(/^[A-Za-z_]\w*/.exec(other)?.[0] === other.trim() ? other.trim() : "");
    else if (fileQuoted !== undefined) definitions.push({ macro: macro!, file: fileQuoted, form: "quoted" });
    else if (fileAngled !== undefined) definitions.push({ macro: macro!, file: fileAngled, form: "angled" });
  }
  if (text.includes("__has_")) {
    for (const [, quote, angle] of text.matchAll(question)) {
      if (quote !== undefined) quoted.add(quote);
      else angled.add(angle!);
    }
  }
  return { quoted: [...quoted], angled: [...angled], macros: [...macros], definitions };
}

/** The same for `-D`: the form that shells leave of `-DHEADER='"x.h"'`. */
export function scanMacro(definition: string): MacroFile[] {
  const found = /^(\w+)=(?:"([^"]+)"|<([^>]+)>)$/.exec(definition);
  if (found === null) return [];
  const [, macro, quoted, angled] = found;
  return [{ macro: macro!, file: quoted ?? angled!, form: quoted === undefined ? "angled" : "quoted" }];
}
