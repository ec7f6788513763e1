// The place in an expression at which an error of the server points.

export interface Place {
  from: number; // in characters of the text
  to: number; // where it is `from`, something is missing there
  message: string; // without the place
}

const kPlaced = /(?:^|: )(\d+):(\d+): (?:parse error: )?(.+)$/s;
const kToken = /[A-Za-z_:][\w:.]*|[0-9][\w.]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[=!<>]=|[=!]~|\S/y;

// Null: the message names no place in this text. "1:5" is line 1, byte 5 of it, both from 1.
export function placeOf(message: string, text: string): Place | null {
  const found = kPlaced.exec(message);
  if (!found) return null;
  const lines = text.split("\n");
  const line = Number(found[1]) - 1;
  if (line < 0 || line >= lines.length) return null;
  const before = lines.slice(0, line).reduce((n, one) => n + one.length + 1, 0);
  const from = before + characters(lines[line], Number(found[2]) - 1);
  kToken.lastIndex = from;
  return { from, to: from + (kToken.exec(text)?.[0].length ?? 0), message: found[3] };
}

// How many of JavaScript's characters `bytes` of UTF-8 are.
function characters(text: string, bytes: number): number {
  let at = 0;
  for (let left = bytes; left > 0 && at < text.length; ) {
    const code = text.codePointAt(at) as number;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}
