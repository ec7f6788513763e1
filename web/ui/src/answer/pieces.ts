// The text of an answer, cut into the items of its list: a million points read at once would hold up the page
// for as long as the eye can see, a series of them does not.

const kQuote = 34;
const kComma = 44;
const kBackslash = 92;

// Each a text of its own for JSON.parse. What is no list comes as a whole, as does what is none from some
// place on: then JSON.parse says what is wrong with it.
export function* pieces(text: string): Generator<string, void> {
  const at = afterBlanks(text, 0);
  const end = text[at] === "[" ? yield* items(text, at) : -1;
  if (end < 0 || afterBlanks(text, end) !== text.length) yield text;
}

// The items of the list whose [ is at `at`. Returns the place behind its ], or -1 where it is no list from some
// place on.
export function* items(text: string, at: number): Generator<string, number> {
  at = afterBlanks(text, at + 1);
  if (text[at] === "]") return at + 1;
  for (;;) {
    const next = afterValue(text, at);
    yield text.slice(at, next);
    at = afterBlanks(text, next);
    if (text[at] === "]") return at + 1;
    if (text[at] !== ",") return -1;
    at = afterBlanks(text, at + 1);
  }
}

function afterBlanks(text: string, at: number): number {
  while (at < text.length && " \t\r\n".includes(text[at])) at += 1;
  return at;
}

// After the value that begins at `at`; after its last character where it never ends.
function afterValue(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === kQuote) {
      i = closingQuote(text, i);
    } else if ((code | 32) === 0x7b) {
      depth += 1; // [ and {
    } else if ((code | 32) === 0x7d) {
      if (depth === 0) return i; // ] and }
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (code === kComma && depth === 0) {
      return i;
    }
  }
  return text.length;
}

function closingQuote(text: string, opening: number): number {
  for (let i = text.indexOf('"', opening + 1); i >= 0; i = text.indexOf('"', i + 1)) {
    let slashes = 0;
    while (text.charCodeAt(i - 1 - slashes) === kBackslash) slashes += 1;
    if (slashes % 2 === 0) return i;
  }
  return text.length;
}
